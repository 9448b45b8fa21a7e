"""What the official Python packages say about a running Hookbox."""

import base64
import json
import os
import sys
import time
import traceback
import urllib.error
import urllib.request
from datetime import datetime, timezone

import check
import stripe
from check import equal, eventually, failure, holds
from nacl.signing import SigningKey
from sink import Sink
from standardwebhooks import Webhook as StandardWebhook
from standardwebhooks import WebhookVerificationError
from svix.api import (
    ApplicationIn,
    ApplicationListOptions,
    ApplicationPatch,
    EndpointHeadersPatchIn,
    EndpointIn,
    EndpointListOptions,
    EndpointPatch,
    EndpointSecretRotateIn,
    EventTypeIn,
    EventTypeListOptions,
    MessageAttemptListByEndpointOptions,
    MessageIn,
    MessageListOptions,
    Svix,
    SvixOptions,
)
from svix.exceptions import HttpError, HTTPValidationError
from svix.webhooks import Webhook as SvixWebhook

URL = os.environ["HOOKBOX_URL"]
TOKEN = os.environ["HOOKBOX_TOKEN"]
STRIPE_SECRET = os.environ["STRIPE_SECRET"]
STANDARD_SECRET = os.environ["STANDARD_SECRET"]
ASYMMETRIC_SEED = bytes(range(32))


def post(path, body, headers):
    headers = {"content-type": "application/json", **headers}
    request = urllib.request.Request(URL + path, body, headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def through(sink, source, signer, body, headers, nth=1):
    """The event as signed, again, and altered; then what the app gets."""
    status, refusal = post(f"/in/{source}", body.replace(b"10.00", b"10.01"), headers)
    equal(f"{signer}: an altered event is refused", (status, refusal["code"]), (400, "signature_mismatch"))
    equal(f"{signer}: a signed event is taken", post(f"/in/{source}", body, headers), (200, {"received": True}))
    repeat = (200, {"received": True, "duplicate": True})
    equal(f"{signer}: its repeat is known", post(f"/in/{source}", body, headers), repeat)
    arrival = sink.wait_for(f"/{source}", nth)[nth - 1]
    equal(f"{signer}: the app gets the bytes", arrival.body, body)
    return arrival


def receive(sink):
    now = int(time.time())
    body = b'{"id":"evt_py","object":"event","type":"a.b","amount":10.00}'
    header = stripe.WebhookSignature.generate_signature_header(body.decode(), STRIPE_SECRET, timestamp=now)
    arrival = through(sink, "stripe", "stripe (PyPI)", body, {"stripe-signature": header})
    event = stripe.Webhook.construct_event(arrival.body, arrival.headers["stripe-signature"], STRIPE_SECRET)
    equal("stripe (PyPI): what the app gets still verifies", event.id, "evt_py")

    body = b'{"type":"a.b","amount":10.00}'
    moment = datetime.fromtimestamp(now, timezone.utc)
    signature = StandardWebhook(STANDARD_SECRET).sign("msg_py", moment, body.decode())
    headers = {"webhook-id": "msg_py", "webhook-timestamp": str(now), "webhook-signature": signature}
    through(sink, "standard-webhooks", "standardwebhooks (PyPI)", body, headers)

    # No official library makes ed25519 signatures; libsodium does.
    key = SigningKey(ASYMMETRIC_SEED)
    signed = base64.b64encode(key.sign(f"msg_ed.{now}.".encode() + body).signature).decode()
    headers = {"webhook-id": "msg_ed", "webhook-timestamp": str(now), "webhook-signature": f"v1a,{signed}"}
    source = {
        "name": "asymmetric",
        "provider": "standard-webhooks",
        "secrets": ["whpk_" + base64.b64encode(bytes(key.verify_key)).decode()],
        "forward": [f"http://127.0.0.1:{os.environ['SINK_PORT']}/asymmetric"],
    }
    made = post("/api/v1/source", json.dumps(source).encode(), {"authorization": f"Bearer {TOKEN}"})
    equal("a source is made over the API", made[0], 201)
    through(sink, "asymmetric", "pynacl", body, headers)


def pages(list_page, options):
    sizes, iterator = [], None
    while len(sizes) < 100:
        page = list_page(options(limit=2, iterator=iterator))
        sizes.append(len(page.data))
        iterator = page.iterator
        if page.done:
            break
    return sizes


def verifies(what, secret, arrival):
    StandardWebhook(secret).verify(arrival.body, arrival.headers)
    SvixWebhook(secret).verify(arrival.body, arrival.headers)
    holds(what, True)


def send(sink):
    svix = Svix(TOKEN, SvixOptions(server_url=URL))
    uid, path, kind = "acme-py", "/acme-py", "acme-py.paid"
    app = svix.application.create(ApplicationIn(name="Acme", uid=uid, metadata={"plan": "free"}))
    equal("svix (PyPI): an application is made and found by its uid", svix.application.get(uid).id, app.id)
    again = svix.application.get_or_create(ApplicationIn(name="Acme", uid=uid))
    equal("svix (PyPI): it is got, not made twice", again.id, app.id)
    twice = failure("a uid", HttpError, lambda: svix.application.create(ApplicationIn(name="B", uid=uid)))
    equal("svix (PyPI): a uid is taken once", (twice.status_code, twice.code), (409, "conflict"))
    renamed = svix.application.patch(uid, ApplicationPatch(name="Acme 2"))
    equal("svix (PyPI): an application is renamed", renamed.name, "Acme 2")

    svix.event_type.create(EventTypeIn(name=kind, description="An invoice was paid"))
    equal("svix (PyPI): an event type is made", svix.event_type.get(kind).name, kind)
    types = svix.event_type.list(EventTypeListOptions(limit=250)).data
    holds("svix (PyPI): it is listed", any(known.name == kind for known in types))

    url = f"http://127.0.0.1:{os.environ['SINK_PORT']}{path}"
    endpoint = svix.endpoint.create(uid, EndpointIn(url=url, description="first", event_types=[kind]))
    equal("svix (PyPI): an endpoint is made", svix.endpoint.get(uid, endpoint.id).url, url)
    patched = svix.endpoint.patch(uid, endpoint.id, EndpointPatch(description="second"))
    equal("svix (PyPI): an endpoint is changed", patched.description, "second")
    svix.endpoint.patch_headers(uid, endpoint.id, EndpointHeadersPatchIn(headers={"x-tenant": "acme"}))
    headers = svix.endpoint.get_headers(uid, endpoint.id).headers
    equal("svix (PyPI): it has a header", headers, {"x-tenant": "acme"})
    secret = svix.endpoint.get_secret(uid, endpoint.id).key

    ids = []
    for number in range(5):
        new = MessageIn(event_type=kind, event_id=f"py-{number}", payload={"number": number, "text": "é😊"})
        ids.append(svix.message.create(uid, new).id)
    svix.message.create(uid, MessageIn(event_type="acme-py.unwanted", payload={}))
    arrivals = sink.wait_for(path, 5)
    for arrival in arrivals:
        verifies("svix (PyPI): what arrives verifies", secret, arrival)
    arrived_ids = sorted(arrival.headers["webhook-id"] for arrival in arrivals)
    equal("svix (PyPI): each arrives under its id", arrived_ids, sorted(ids))
    equal("svix (PyPI): with the endpoint's header", arrivals[0].headers["x-tenant"], "acme")
    altered = arrivals[0].body + b" "
    failure(
        "an altered body",
        WebhookVerificationError,
        lambda: StandardWebhook(secret).verify(altered, arrivals[0].headers),
    )
    holds("svix (PyPI): an altered body does not verify", True)
    taken = MessageIn(event_type=kind, event_id="py-0", payload={})
    conflict = failure("an event id", HttpError, lambda: svix.message.create(uid, taken))
    equal("svix (PyPI): an event id is taken once", conflict.status_code, 409)
    equal("svix (PyPI): a message is found by its event id", svix.message.get(uid, "py-0").id, ids[0])

    listed = pages(lambda options: svix.message.list(uid, options), MessageListOptions)
    equal("svix (PyPI): messages by pages", listed, [2, 2, 2])
    listed = pages(lambda options: svix.endpoint.list(uid, options), EndpointListOptions)
    equal("svix (PyPI): endpoints by pages", listed, [1])
    listed = pages(svix.application.list, ApplicationListOptions)
    holds("svix (PyPI): applications by pages", sum(listed) >= 1)
    of_type = svix.message.list(uid, MessageListOptions(event_types=[kind])).data
    equal("svix (PyPI): messages by type", len(of_type), 5)
    attempts(svix, uid, endpoint.id, ids)
    rotate(svix, sink, uid, endpoint.id, ids[0], secret)

    nobody = failure("nobody", HttpError, lambda: svix.application.get("nobody"))
    equal("svix (PyPI): nobody is not found", (nobody.status_code, nobody.code), (404, "not_found"))
    wrong = failure(
        "no URL", HTTPValidationError, lambda: svix.endpoint.create(uid, EndpointIn(url="no url"))
    )
    equal("svix (PyPI): no URL is no endpoint", wrong.detail[0].loc, ["body", "url"])
    svix.endpoint.delete(uid, endpoint.id)
    gone = failure("gone", HttpError, lambda: svix.endpoint.get(uid, endpoint.id))
    equal("svix (PyPI): a deleted endpoint is gone", gone.status_code, 404)
    svix.application.delete(uid)
    gone = failure("gone", HttpError, lambda: svix.application.get(uid))
    equal("svix (PyPI): a deleted application is gone", gone.status_code, 404)


def attempts(svix, uid, endpoint, ids):
    def all_five():
        found = svix.message_attempt.list_by_endpoint(uid, endpoint).data
        return found if len(found) == 5 else None

    shown = eventually("attempts are shown", all_five)
    equal("svix (PyPI): attempts by endpoint", {int(attempt.status) for attempt in shown}, {0})
    attempt = svix.message_attempt.list_by_msg(uid, ids[0]).data[0]
    found = (attempt.msg_id, attempt.response_status_code)
    equal("svix (PyPI): an attempt by message", found, (ids[0], 200))
    equal("svix (PyPI): one attempt", svix.message_attempt.get(uid, ids[0], attempt.id).id, attempt.id)
    listed = pages(
        lambda options: svix.message_attempt.list_by_endpoint(uid, endpoint, options),
        MessageAttemptListByEndpointOptions,
    )
    equal("svix (PyPI): attempts by pages", listed, [2, 2, 1])
    destinations = svix.message_attempt.list_attempted_destinations(uid, ids[0]).data
    equal("svix (PyPI): where a message went", [known.id for known in destinations], [endpoint])


def rotate(svix, sink, uid, endpoint, message, secret):
    given = svix.endpoint.rotate_secret(uid, endpoint, EndpointSecretRotateIn()).key
    fresh = svix.endpoint.get_secret(uid, endpoint).key
    equal("svix (PyPI): a rotation gives the new secret", given, fresh)
    holds("svix (PyPI): a secret is rotated", fresh != secret)
    svix.message_attempt.resend(uid, message, endpoint)
    resent = sink.wait_for(f"/{uid}", 6)[5]
    equal("svix (PyPI): a message is sent again under its id", resent.headers["webhook-id"], message)
    verifies("svix (PyPI): it verifies with the new secret", fresh, resent)
    verifies("svix (PyPI): and with the old one for a while", secret, resent)


def main():
    sink = Sink(int(os.environ["SINK_PORT"]))
    try:
        receive(sink)
        send(sink)
    except Exception:
        print("not ok", file=sys.stderr)
        traceback.print_exc()
        return 1
    print(f"Python: {check.passed} checks hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
