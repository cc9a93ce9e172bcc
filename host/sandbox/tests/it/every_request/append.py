

# Each part of requests and answers, at other endpoints.
from network_hub_module import endpoints
from network_hub_module.endpoints import Request, Response

import module_2


class Endpoints(module_2.Endpoints):
    def answer(self, context: CallContext, request: Request) -> Response:
        match request.endpoint:
            case "echo":
                return echo(request)
            case "bytes":
                return Response(201, request.body, headers={"content-type": "application/octet-stream"})
            case "json":
                if (body := request.json()) is None:
                    return endpoints.error(422, "no_json", 'no "JSON"')
                return endpoints.json(200, body)
            case "empty":
                return endpoints.empty()
            case "later":
                raise endpoints.Retry("later")
            case "store":
                store.get("endpoints have none")
                return endpoints.empty()
            case _:
                return super().answer(context, request)


def echo(request: Request) -> Response:
    caller, dedupe, trace = request.caller, request.dedupe, request.headers.get("x-trace", "-")
    parts = [request.method, request.path, request.parameters.get("thing", "-"), request.first("page") or "-"]
    parts += [request.headers.get("content-type", "-"), trace, dedupe or "-", caller.kind.name, caller.id]
    parts += [",".join(caller.servers), request.address_hash, request.address or "-", request.body.decode()]
    done: list[Effect] = []
    if dedupe is not None:
        state.set("seen", dedupe)
        done.append(effects.CancelTimer(key=dedupe, optional=True))
    headers = {"x-trace": trace, "cache-control": "no-store"}
    return endpoints.text(200, "|".join(parts), headers=headers, effects=done)
