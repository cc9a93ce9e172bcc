
// Each part of requests and answers, at other endpoints.
import { empty, bodyJson, bodyText, error, json, query, Retry as Later, text } from "network-hub-module/endpoints";
import { endpoints as votes } from "./module_2.js";

/** @type {import("network-hub-module/endpoints").Endpoints} */
export const endpoints = {
  answer(context, request) {
    switch (request.endpoint) {
      case "echo":
        return echo(request);
      case "bytes":
        return { status: 201, headers: { "content-type": "application/octet-stream" }, body: request.body };
      case "json": {
        const body = bodyJson(request);
        return body === undefined ? error(422, "no_json", 'no "JSON"') : json(200, body);
      }
      case "empty":
        return empty();
      case "later":
        throw new Later("later");
      case "store":
        store.get("endpoints have none");
        return empty();
      default:
        return votes.answer(context, request);
    }
  },
};

/** @param {import("network-hub-module/endpoints").Request} request */
const echo = (request) => {
  const { method, path, parameters, headers, caller, dedupe } = request;
  const trace = headers["x-trace"] ?? "-";
  const parts = [method, path, parameters["thing"] ?? "-", query(request, "page") ?? "-"];
  parts.push(headers["content-type"] ?? "-", trace, dedupe ?? "-", caller.kind, caller.id, caller.servers.join());
  parts.push(request.addressHash, request.address ?? "-", bodyText(request) ?? "no text");
  if (dedupe !== null) state.set("seen", dedupe);
  return text(200, parts.join("|"), {
    headers: { "x-trace": trace, "cache-control": "no-store" },
    effects: dedupe === null ? [] : [{ cancelTimer: { key: dedupe }, optional: true }],
  });
};
