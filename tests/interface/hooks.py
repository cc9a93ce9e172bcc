"""What schemathesis needs to be told about the hub."""

import schemathesis


@schemathesis.serializer("application/wasm")
def as_bytes(context, value):
    return {"data": value if isinstance(value, bytes) else str(value).encode()}


@schemathesis.hook
def filter_case(context, case):
    """Leaves out what is meant to be wrong and is not: in a header a number or null is a text like any other."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_negative:
        return True
    return [place.value for place, part in meta.components.items() if part.mode.is_negative] != ["header"]


@schemathesis.check
def what_the_document_allows_is_understood(context, response, case):
    """A request that fits the document is never `invalid_request`.

    Stands in for schemathesis's own check, which takes every 400 for a refusal of the request's form. The hub answers
    400 also where the form is right and the thing is not: a heartbeat of a server it does not know, for example. The
    code tells the two apart.
    """
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code not in (400, 413, 415, 422):
        return
    # Fuzzing writes names in all characters there are; which of them a name takes is often said in words alone.
    if meta.phase.name.value not in ("examples", "coverage"):
        return
    try:
        error = response.json()
    except ValueError:
        error = {}
    if (case.operation.label, error.get("code")) in BY_MORE_THAN_THE_FORM:
        return
    # Of an optional name the document does not tell whether a blank one is none, as nearly everywhere, or an error.
    if "must not be blank" in error.get("error", ""):
        return
    assert error.get("code") not in ("invalid_request", None), f"refused what the document allows: {error.get('error')}"


# Rules between fields, or about values, that the document says in words.
BY_MORE_THAN_THE_FORM = {
    # At least one way to match has to be chosen.
    ("POST /api/plugin/matchmaking/find", "invalid_request"),
    # A player or an address.
    ("GET /api/plugin/punishments/query", "invalid_request"),
    # Nothing for the type where there is no address; and a duration that ends after the end of time.
    ("POST /api/plugin/punishments/create-ip", "invalid_request"),
    # An engine the hub is not set up for; an address that is none.
    ("POST /api/plugin/servers/register", "invalid_request"),
    # The input is that of the point.
    ("POST /api/manage/modules/{name}/{version}/dry-run", "invalid_request"),
    # Of one call, or of the newest.
    ("POST /api/manage/modules/{name}/{version}/replay", "invalid_request"),
    # The owners of type `player` are keyed by UUID.
    ("GET /api/plugin/economy/{ownerType}/{ownerKey}/currencies", "invalid_request"),
    ("GET /api/plugin/economy/{ownerType}/{ownerKey}/statistics", "invalid_request"),
    ("POST /api/plugin/economy/{ownerType}/{ownerKey}/currencies/modify", "invalid_request"),
    ("POST /api/plugin/economy/{ownerType}/{ownerKey}/statistics/increment", "invalid_request"),
    ("GET /api/manage/economy/{ownerType}/{ownerKey}/ledger", "invalid_request"),
    # One day, or all of them.
    ("GET /api/plugin/players/{uuid}/statistics", "invalid_request"),
    # A value of the field's own type.
    ("GET /api/plugin/collections/{collection}/by/{field}", "invalid_request"),
    # A time after the beginning of all times.
    ("POST /api/plugin/permissions/users/{uuid}/permissions", "invalid_request"),
    ("POST /api/plugin/permissions/users/{uuid}/permissions/remove", "invalid_request"),
    ("PUT /api/plugin/permissions/groups/{groupId}", "invalid_request"),
    # In the future.
    ("POST /api/manage/keys", "invalid_request"),
}
