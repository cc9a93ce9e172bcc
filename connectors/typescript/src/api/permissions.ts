import type { EffectivePermissions, PermissionGroup, PermissionGroupUpdate, PermissionNode, PermissionNodeInput } from "../generated/schemas.js";
import { path, type Transport } from "../transport.js";

/** Answer about a player's permissions. */
export interface VersionedPermissions {
  /** Undefined where they are still those of the tag that was sent. */
  readonly permissions: EffectivePermissions | undefined;
  /** Names this answer. */
  readonly etag: string | undefined;
}

/** Groups and what players may do. */
export class PermissionsApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Returns a player's effective permissions, groups included.
   *
   * @param options `context` is where they are, as `server=lobby,gamemode=skyblock`; `etag` that of an answer that is still kept
   */
  async effective(
    uuid: string,
    options: { context?: string | undefined; world?: string; etag?: string | undefined } = {},
  ): Promise<VersionedPermissions> {
    const { etag, ...query } = options;
    const answer = await this.transport.exchange({
      method: "GET",
      path: path`permissions/users/${uuid}/effective`,
      query,
      ...(etag === undefined ? {} : { headers: { "If-None-Match": etag } }),
    });
    const permissions = answer.status === 304 ? undefined : (answer.body as EffectivePermissions);
    return { permissions, etag: answer.headers.get("ETag") ?? etag };
  }

  /** All groups. */
  groups(): Promise<PermissionGroup[]> {
    return this.transport.send({ method: "GET", path: path`permissions/groups` });
  }

  /** A group; undefined where there is none. */
  group(groupId: string): Promise<PermissionGroup | undefined> {
    return this.transport.find({ method: "GET", path: path`permissions/groups/${groupId}` });
  }

  /** Creates or replaces a group. */
  async putGroup(groupId: string, group: PermissionGroupUpdate): Promise<void> {
    await this.transport.send({ method: "PUT", path: path`permissions/groups/${groupId}`, body: group });
  }

  /** Deletes a group; whether there was one. */
  deleteGroup(groupId: string): Promise<boolean> {
    return this.transport.delete(path`permissions/groups/${groupId}`);
  }

  /** A player's own nodes, without those of groups. */
  ofPlayer(uuid: string): Promise<PermissionNode[]> {
    return this.transport.send({ method: "GET", path: path`permissions/users/${uuid}/permissions` });
  }

  /** Gives a player a node; one of the same name, context and world is replaced. */
  async add(uuid: string, node: PermissionNodeInput): Promise<void> {
    await this.transport.send({ method: "POST", path: path`permissions/users/${uuid}/permissions`, body: node });
  }

  /** Takes a node from a player. */
  async remove(uuid: string, node: PermissionNodeInput): Promise<void> {
    await this.transport.send({ method: "POST", path: path`permissions/users/${uuid}/permissions/remove`, body: node });
  }
}
