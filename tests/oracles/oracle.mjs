// What the official JavaScript packages say about a running Hookbox.

import * as svix1 from "svix-1";
import * as svix2 from "svix";
import { count } from "./check.mjs";
import { receive } from "./receive.mjs";
import { send } from "./send.mjs";
import { sink } from "./sink.mjs";

await new Promise((resolve) => sink.listen(Number(process.env.SINK_PORT), "127.0.0.1", resolve));
try {
  await receive();
  await send("svix 2.5.0 (npm)", svix2);
  await send("svix 1.99.1 (npm)", svix1.default ?? svix1);
  console.log(`JavaScript: ${count()} checks hold`);
} catch (error) {
  console.error(`not ok  ${error.stack}`, error.body ?? "");
  process.exitCode = 1;
} finally {
  sink.closeAllConnections();
  sink.close();
}
