// One line for each check; the first that fails ends the run.

import { isDeepStrictEqual } from "node:util";

let passed = 0;

export function equal(what, actual, expected) {
  if (!isDeepStrictEqual(actual, expected)) {
    throw new Error(`${what}\n  expected ${JSON.stringify(expected)}\n  found    ${JSON.stringify(actual)}`);
  }
  passed += 1;
  console.log(`ok  ${what}`);
}

export const holds = (what, condition) => equal(what, Boolean(condition), true);

/** The error that a call ends with. */
export async function failure(what, call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error(`${what}\n  expected an error\n  found    none`);
}

/** What `ask` returns once it is something; for what the server does in its own time. */
export async function eventually(what, ask) {
  const end = Date.now() + 30_000;
  while (Date.now() < end) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${what}\n  expected within 30 s\n  found    nothing`);
}

export const count = () => passed;
