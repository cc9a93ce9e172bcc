"""Extends schemathesis with rules that the hub's OpenAPI document does not express."""

import schemathesis


@schemathesis.serializer("application/wasm")
def as_bytes(context, value):
    return {"data": value if isinstance(value, bytes) else str(value).encode()}


@schemathesis.hook
def filter_case(context, case):
    """Skips negative cases that only change a header: any value of a header is a valid text."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_negative:
        return True
    negative = [location.value for location, part in meta.components.items() if part.mode.is_negative]
    return negative != ["header"]


@schemathesis.hook
def before_call(context, case, kwargs):
    """Leaves the key out of sequences of calls: all have the same, and a repeated creation is answered from memory, also when
    what it made was deleted since."""
    if case.meta is not None and case.meta.phase.name.value == "stateful" and case.headers:
        case.headers.pop("Idempotency-Key", None)


@schemathesis.check
def valid_request_is_accepted(context, response, case):
    """A request that matches the document is never `invalid_request`.

    Replaces schemathesis's own check, which takes every 400 for a refusal of the request's form. The hub also answers 400
    where the form is right, for example to a heartbeat of an unknown server. The error's code tells the two apart.
    """
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code not in (400, 413, 415, 422):
        return
    # Fuzzing uses all characters in names; the allowed ones are often only in a description.
    if meta.phase.name.value not in ("examples", "coverage"):
        return
    try:
        error = response.json()
    except ValueError:
        error = {}
    if (case.operation.label, error.get("code")) in RULES_IN_WORDS:
        return
    # The document does not say whether a blank optional name is absent or an error.
    if "must not be blank" in error.get("error", ""):
        return
    # `If-Match` is one revision or `*`: descriptions alone say so.
    if "header `If-Match` must be" in error.get("error", ""):
        return
    assert error.get("code") not in ("invalid_request", None), f"refused what the document allows: {error.get('error')}"


# Rules between fields, or about values, that the document has in descriptions only.
RULES_IN_WORDS = {
    # `from` is before `to`.
    ("GET /api/manage/usage", "invalid_request"),
    ("GET /api/admin/networks/{id}/usage", "invalid_request"),
    # A URL that leads to a public address; templates for Discord's kind alone.
    ("POST /api/manage/webhooks", "invalid_request"),
    ("PATCH /api/manage/webhooks/{webhookId}", "invalid_request"),
    # Templates of a webhook in Discord alone.
    ("POST /api/manage/webhooks/{webhookId}/deliveries/{deliveryId}/preview", "invalid_request"),
    # A secret's name; a value's bytes.
    ("PUT /api/manage/secrets/{name}", "invalid_request"),
    # At least one way to match.
    ("POST /api/plugin/matchmaking/find", "invalid_request"),
    # A player or a name; times after each other.
    ("POST /api/plugin/deliveries", "invalid_request"),
    # `around` goes with neither `before` nor a page.
    ("GET /api/manage/chat", "invalid_request"),
    # A page of large payloads.
    ("GET /api/manage/deliveries", "answer_too_large"),
    ("POST /api/plugin/matchmaking/tickets", "invalid_request"),
    # A line's name; an end of the pause in the future.
    ("PUT /api/manage/matchmaking/lines/{line}", "invalid_request"),
    ("GET /api/manage/matchmaking/lines/{line}/tickets", "invalid_request"),
    # A player, by UUID or name.
    ("POST /api/plugin/punishments/preview", "invalid_request"),
    # A player or an address.
    ("GET /api/plugin/punishments/query", "invalid_request"),
    # One of the staff, by UUID or name; evidence as URLs; a duration to reduce to.
    ("POST /api/manage/punishments/revoke", "invalid_request"),
    ("PATCH /api/manage/punishments/{id}", "invalid_request"),
    ("POST /api/manage/appeals/{appealId}/decide", "invalid_request"),
    # The type needs an address; a duration may not end beyond the last timestamp.
    ("POST /api/plugin/punishments/create-ip", "invalid_request"),
    # A configured engine; a valid address.
    ("POST /api/plugin/servers/register", "invalid_request"),
    # At least one point, and at each what it has; limits within the network's plan.
    ("PUT /api/manage/modules/{name}/activation", "invalid_request"),
    # Limits within the network's plan.
    ("PUT /api/manage/extension-points/{point}", "invalid_request"),
    # An input of the point.
    ("POST /api/manage/modules/{name}/{version}/dry-run", "invalid_request"),
    # Either one call or the newest ones.
    ("POST /api/manage/modules/{name}/{version}/replay", "invalid_request"),
    # Owners of type `player` are keyed by UUID.
    ("GET /api/plugin/economy/{ownerType}/{ownerKey}/currencies", "invalid_request"),
    ("GET /api/plugin/economy/{ownerType}/{ownerKey}/statistics", "invalid_request"),
    ("POST /api/plugin/economy/{ownerType}/{ownerKey}/currencies/modify", "invalid_request"),
    ("POST /api/plugin/economy/{ownerType}/{ownerKey}/statistics/increment", "invalid_request"),
    ("GET /api/manage/economy/{ownerType}/{ownerKey}/ledger", "invalid_request"),
    ("POST /api/plugin/economy/transactions", "invalid_request"),
    # Names of areas and of namespaces; an IP address.
    ("POST /api/plugin/players/{uuid}/load", "invalid_request"),
    ("POST /api/plugin/players/{uuid}/session", "invalid_request"),
    # Each namespace of a game mode once.
    ("PUT /api/plugin/players/{uuid}/session/{fence}", "invalid_request"),
    # Either one day or all.
    ("GET /api/plugin/players/{uuid}/statistics", "invalid_request"),
    # A value of the field's type.
    ("GET /api/plugin/collections/{collection}/by/{field}", "invalid_request"),
    # A time after 1970.
    ("POST /api/plugin/permissions/users/{uuid}/permissions", "invalid_request"),
    ("POST /api/plugin/permissions/users/{uuid}/permissions/remove", "invalid_request"),
    ("PUT /api/plugin/permissions/groups/{groupId}", "invalid_request"),
    # In the future.
    ("POST /api/manage/keys", "invalid_request"),
}
