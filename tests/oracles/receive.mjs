// Events signed by the providers' own packages: taken as they are, refused when altered.

import { createHmac } from "node:crypto";
import "@shopify/shopify-api/adapters/node";
import { ApiVersion, shopifyApi } from "@shopify/shopify-api";
import { sign } from "@octokit/webhooks-methods";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import Stripe from "stripe";
import { equal, holds } from "./check.mjs";
import { waitFor } from "./sink.mjs";

const { HOOKBOX_URL, STRIPE_SECRET, GITHUB_SECRET, SHOPIFY_SECRET, STANDARD_SECRET } = process.env;

/** Sends the event as signed, then again, then with one byte changed, and looks at what the app gets. */
async function through(source, signer, body, headers) {
  const post = async (bytes) => {
    const sent = { method: "POST", body: bytes, headers: { "content-type": "application/json", ...headers } };
    const answer = await fetch(`${HOOKBOX_URL}/in/${source}`, sent);
    return [answer.status, await answer.json()];
  };
  const altered = body.replace("10.00", "10.01");
  holds(`${signer}: the sample can be altered`, altered !== body);
  const [status, refusal] = await post(altered);
  equal(`${signer}: an altered event is refused`, [status, refusal.code], [400, "signature_mismatch"]);
  equal(`${signer}: a signed event is taken`, await post(body), [200, { received: true }]);
  equal(`${signer}: its repeat is known`, await post(body), [200, { received: true, duplicate: true }]);
  const path = `/${source}`;
  through.sent[path] = (through.sent[path] ?? 0) + 1;
  const arrivals = await waitFor(path, through.sent[path]);
  const arrival = arrivals.at(-1);
  equal(`${signer}: the app gets the bytes`, arrival.body.toString(), body);
  return arrival;
}
through.sent = {};

const now = () => Math.floor(Date.now() / 1000);

export async function receive() {
  const payload = JSON.stringify({ id: "evt_js", object: "event", type: "invoice.paid", created: now() });
  const stripeBody = payload.replace("{", '{ "amount": 10.00, ');
  const stripe = new Stripe("sk_test_none");
  const header = stripe.webhooks.generateTestHeaderString({ payload: stripeBody, secret: STRIPE_SECRET });
  const arrival = await through("stripe", "stripe (npm)", stripeBody, { "stripe-signature": header });
  const passedOn = stripe.webhooks.constructEvent(arrival.body, arrival.headers["stripe-signature"], STRIPE_SECRET);
  equal("stripe (npm): what the app gets still verifies", passedOn.id, "evt_js");

  const githubBody = '{"action":"opened","amount":10.00,"text":"é😊"}';
  await through("github", "@octokit/webhooks-methods", githubBody, {
    "x-github-delivery": "js-1",
    "x-github-event": "issues",
    "x-hub-signature-256": await sign(GITHUB_SECRET, githubBody),
  });

  const shopifyBody = '{"id":1,"total":"10.00"}';
  const hmac = createHmac("sha256", SHOPIFY_SECRET).update(shopifyBody).digest("base64");
  const shopifyHeaders = {
    "x-shopify-hmac-sha256": hmac,
    "x-shopify-topic": "orders/paid",
    "x-shopify-shop-domain": "shop.myshopify.com",
    "x-shopify-api-version": "2026-10",
    "x-shopify-webhook-id": "js-1",
    "x-shopify-event-id": "js-1",
  };
  const shopify = shopifyApi({
    apiKey: "key",
    apiSecretKey: SHOPIFY_SECRET,
    apiVersion: Object.values(ApiVersion).at(-1),
    hostName: "app.example",
    isEmbeddedApp: true,
    logger: { level: 0 },
  });
  const validate = (body, headers) =>
    shopify.webhooks.validate({ rawBody: body, rawRequest: { method: "POST", url: "/", headers }, rawResponse: {} });
  const judged = await validate(shopifyBody, shopifyHeaders);
  equal("@shopify/shopify-api: the signed event is valid", judged.valid, true);
  const shop = await through("shopify", "@shopify/shopify-api", shopifyBody, shopifyHeaders);
  const again = await validate(shop.body.toString(), shop.headers);
  equal("@shopify/shopify-api: what the app gets still validates", again.valid, true);

  for (const [name, Webhook] of [["standardwebhooks (npm)", StandardWebhook], ["svix (npm)", SvixWebhook]]) {
    const body = `{"type":"a.b","amount":10.00,"by":"${name}"}`;
    const id = `msg_${name.replace(/\W+/g, "_")}`;
    const prefix = name.startsWith("svix") ? "svix" : "webhook";
    await through("standard-webhooks", name, body, {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: String(now()),
      [`${prefix}-signature`]: new Webhook(STANDARD_SECRET).sign(id, new Date(now() * 1000), body),
    });
  }
}
