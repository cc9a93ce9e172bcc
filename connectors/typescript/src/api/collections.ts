import type {
  CollectionDefinition, CollectionDocuments, CollectionItem, CollectionItems, RegisteredCollection,
} from "../generated/schemas.js";
import { path, type Query, type Transport } from "../transport.js";

/** Part and order of a list. */
export type ListOptions = { limit?: number; cursor?: string; order?: "asc" | "desc" };

/** Some documents of a collection; `nextCursor` is where the next ones begin, if there are more. */
export type DocumentPage<T> = Omit<CollectionItems, "items"> & { items: (Omit<CollectionItem, "doc"> & { doc: T })[] };

/** Documents under ids of your own, found by indexed fields. A document is JSON of at most 256 KiB. */
export class CollectionsApi {
  constructor(private readonly transport: Transport) {}

  /** Creates collections, or adds indexes to them; do it at every start. An index may be BUILDING for a while. */
  async register(collections: CollectionDefinition[]): Promise<RegisteredCollection[]> {
    const answer = await this.transport.send<{ collections: RegisteredCollection[] }>({
      method: "POST",
      path: path`collections/register`,
      body: { collections },
    });
    return answer.collections;
  }

  /** A document; undefined where there is none. */
  get<T>(collection: string, id: string): Promise<T | undefined> {
    return this.transport.find({ method: "GET", path: path`collections/${collection}/${id}` });
  }

  /** Stores a document. */
  async put(collection: string, id: string, document: unknown): Promise<void> {
    await this.transport.send({ method: "PUT", path: path`collections/${collection}/${id}`, body: document });
  }

  /** Deletes a document; whether there was one. */
  async delete(collection: string, id: string): Promise<boolean> {
    const call = { method: "DELETE", path: path`collections/${collection}/${id}` };
    return (await this.transport.send<{ deleted: boolean }>(call)).deleted;
  }

  /** At most 200 documents by their ids; `rest` names those that did not fit into the answer. */
  getAll(collection: string, ids: string[]): Promise<CollectionDocuments> {
    return this.transport.send({ method: "POST", path: path`collections/${collection}/mget`, body: { ids } });
  }

  /** Returns documents whose field has this value, by id. */
  findBy<T>(
    collection: string, field: string, value: string | number | boolean, options: Omit<ListOptions, "order"> = {},
  ): Promise<DocumentPage<T>> {
    return this.list(path`collections/${collection}/by/${field}`, { value, ...options });
  }

  /** Returns documents whose field is between two numbers, both included. */
  findRange<T>(
    collection: string, field: string, options: { min?: number; max?: number } & ListOptions,
  ): Promise<DocumentPage<T>> {
    return this.list(path`collections/${collection}/range/${field}`, options);
  }

  /** The greatest values first. */
  top<T>(collection: string, field: string, options: ListOptions = {}): Promise<DocumentPage<T>> {
    return this.list(path`collections/${collection}/top/${field}`, options);
  }

  /** All documents that have the field, the least values first unless an order is given. */
  page<T>(collection: string, field: string, options: ListOptions = {}): Promise<DocumentPage<T>> {
    return this.list(path`collections/${collection}/page/${field}`, options);
  }

  private list<T>(path: string, query: Query): Promise<DocumentPage<T>> {
    return this.transport.send({ method: "GET", path, query });
  }
}
