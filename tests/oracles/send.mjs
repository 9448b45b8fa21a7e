// A whole life of an application through one official Svix client.

import { Webhook as StandardWebhook } from "standardwebhooks";
import { equal, eventually, failure, holds } from "./check.mjs";
import { waitFor } from "./sink.mjs";

const { HOOKBOX_URL, HOOKBOX_TOKEN, SINK_PORT } = process.env;

async function pages(list) {
  const found = [];
  let iterator = null;
  do {
    const page = await list({ limit: 2, iterator });
    found.push(page.data.length);
    iterator = page.iterator;
    if (page.done) return found;
  } while (found.length < 100);
  return found;
}

function verifies(what, Webhook, secret, arrival) {
  new StandardWebhook(secret).verify(arrival.body, arrival.headers);
  new Webhook(secret).verify(arrival.body, arrival.headers);
  holds(what, true);
}

export async function send(label, { Svix, Webhook }) {
  const svix = new Svix(HOOKBOX_TOKEN, { serverUrl: HOOKBOX_URL });
  const uid = `acme-${label.replace(/\W+/g, "-")}`;
  const path = `/${uid}`;
  const type = `${uid}.paid`;
  const is = (what) => `${label}: ${what}`;

  const app = await svix.application.create({ name: "Acme", uid, metadata: { plan: "free" } });
  equal(is("an application is made and found by its uid"), (await svix.application.get(uid)).id, app.id);
  equal(is("it is got, not made twice"), (await svix.application.getOrCreate({ name: "Acme", uid })).id, app.id);
  const twice = await failure(is("a uid is taken once"), () => svix.application.create({ name: "B", uid }));
  equal(is("a uid is taken once"), [twice.code, twice.body?.code], [409, "conflict"]);
  equal(is("an application is renamed"), (await svix.application.patch(uid, { name: "Acme 2" })).name, "Acme 2");

  await svix.eventType.create({ name: type, description: "An invoice was paid" });
  equal(is("an event type is made"), (await svix.eventType.get(type)).description, "An invoice was paid");
  holds(is("it is listed"), (await svix.eventType.list({ limit: 250 })).data.some(({ name }) => name === type));

  const url = `http://127.0.0.1:${SINK_PORT}${path}`;
  const types = label.includes("1.") ? { filterTypes: [type] } : { eventTypes: [type] };
  const endpoint = await svix.endpoint.create(uid, { url, description: "first", ...types });
  equal(is("an endpoint is made"), (await svix.endpoint.get(uid, endpoint.id)).url, url);
  const patched = await svix.endpoint.patch(uid, endpoint.id, { description: "second" });
  equal(is("an endpoint is changed"), patched.description, "second");
  await svix.endpoint.patchHeaders(uid, endpoint.id, { headers: { "x-tenant": "acme" } });
  equal(is("it has a header"), (await svix.endpoint.getHeaders(uid, endpoint.id)).headers, { "x-tenant": "acme" });
  const secret = (await svix.endpoint.getSecret(uid, endpoint.id)).key;

  const ids = [];
  for (let number = 0; number < 5; number += 1) {
    const message = { eventType: type, eventId: `${uid}-${number}`, payload: { number, text: "é😊" } };
    ids.push((await svix.message.create(uid, message)).id);
  }
  await svix.message.create(uid, { eventType: `${uid}.unwanted`, payload: {} });
  const arrivals = await waitFor(path, 5);
  for (const arrival of arrivals) verifies(is("what arrives verifies"), Webhook, secret, arrival);
  const arrivedIds = arrivals.map(({ headers }) => headers["webhook-id"]).sort();
  equal(is("each arrives under its id"), arrivedIds, [...ids].sort());
  equal(is("with the endpoint's header"), arrivals[0].headers["x-tenant"], "acme");
  const again = { eventType: type, eventId: `${uid}-0`, payload: {} };
  const conflict = await failure(is("an event id is taken once"), () => svix.message.create(uid, again));
  equal(is("an event id is taken once"), conflict.code, 409);
  equal(is("a message is found by its event id"), (await svix.message.get(uid, `${uid}-0`)).id, ids[0]);

  equal(is("messages by pages"), await pages((page) => svix.message.list(uid, page)), [2, 2, 2]);
  equal(is("endpoints by pages"), await pages((page) => svix.endpoint.list(uid, page)), [1]);
  holds(is("applications by pages"), (await pages((page) => svix.application.list(page))).length >= 1);
  const ofType = await svix.message.list(uid, { eventTypes: [type] });
  equal(is("messages by type"), ofType.data.length, 5);

  const attempts = await eventually(is("attempts are shown"), async () => {
    const { data } = await svix.messageAttempt.listByEndpoint(uid, endpoint.id);
    return data.length === 5 ? data : undefined;
  });
  equal(is("attempts by endpoint"), new Set(attempts.map(({ status }) => status)), new Set([0]));
  const [attempt] = (await svix.messageAttempt.listByMsg(uid, ids[0])).data;
  equal(is("an attempt by message"), [attempt.msgId, attempt.responseStatusCode], [ids[0], 200]);
  equal(is("one attempt"), (await svix.messageAttempt.get(uid, ids[0], attempt.id)).id, attempt.id);
  const pagesOfAttempts = await pages((page) => svix.messageAttempt.listByEndpoint(uid, endpoint.id, page));
  equal(is("attempts by pages"), pagesOfAttempts, [2, 2, 1]);
  const destinations = await svix.messageAttempt.listAttemptedDestinations(uid, ids[0]);
  equal(is("where a message went"), destinations.data.map(({ id }) => id), [endpoint.id]);

  await svix.endpoint.rotateSecret(uid, endpoint.id, {});
  const fresh = (await svix.endpoint.getSecret(uid, endpoint.id)).key;
  holds(is("a secret is rotated"), fresh !== secret);
  await svix.messageAttempt.resend(uid, ids[0], endpoint.id);
  const resent = (await waitFor(path, 6))[5];
  equal(is("a message is sent again under its id"), resent.headers["webhook-id"], ids[0]);
  verifies(is("it verifies with the new secret"), Webhook, fresh, resent);
  verifies(is("and with the old one for a while"), Webhook, secret, resent);

  const nobody = await failure(is("nobody is not found"), () => svix.application.get("nobody"));
  equal(is("nobody is not found"), [nobody.code, nobody.body?.code], [404, "not_found"]);
  const wrong = await failure(is("no URL is no endpoint"), () => svix.endpoint.create(uid, { url: "no url" }));
  equal(is("no URL is no endpoint"), [wrong.code, wrong.body?.detail?.[0]?.loc], [422, ["body", "url"]]);
  const stranger = new Svix("wrong", { serverUrl: HOOKBOX_URL });
  equal(is("a wrong token"), (await failure(is("a wrong token"), () => stranger.application.list())).code, 401);

  await svix.endpoint.delete(uid, endpoint.id);
  const gone = await failure(is("a deleted endpoint"), () => svix.endpoint.get(uid, endpoint.id));
  equal(is("a deleted endpoint is gone"), gone.code, 404);
  await svix.application.delete(uid);
  equal(is("a deleted application is gone"), (await failure(uid, () => svix.application.get(uid))).code, 404);
}
