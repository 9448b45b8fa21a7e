// A receiver that keeps what arrives, by path.

import { createServer } from "node:http";

const arrivals = new Map();
let waiting = [];

export function arrived(path) {
  if (!arrivals.has(path)) arrivals.set(path, []);
  return arrivals.get(path);
}

export const sink = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    arrived(request.url).push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.end();
    waiting = waiting.filter((wake) => !wake());
  });
});

/** What arrived on a path, once it is that many. */
export function waitFor(path, count) {
  return new Promise((resolve, reject) => {
    const overdue = setTimeout(
      () => reject(new Error(`${arrived(path).length} of ${count} arrived on ${path}`)),
      30_000,
    );
    const wake = () => {
      if (arrived(path).length < count) return false;
      clearTimeout(overdue);
      resolve(arrived(path));
      return true;
    };
    if (!wake()) waiting.push(wake);
  });
}
