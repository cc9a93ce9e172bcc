import { HubError } from "../errors.js";
import type {
  BalanceOperation, CurrencyBalance, CurrencyLeaderboard, IncrementedStatistic, ModifiedBalance, OwnerStatistics,
  StatisticLeaderboard, StatisticPeriod, TransactionReceipt,
} from "../generated/schemas.js";
import { path, type Transport } from "../transport.js";

/** Options of a change of a balance. */
export interface BalanceChange {
  readonly ownerType: string;
  readonly ownerKey: string;
  readonly currency: string;
  /** Amount to add; negative to take. */
  readonly amount: number;
  /** For the ledger. */
  readonly reason?: string;
  /** Refuses the change, whole, where it would leave the currency's bounds; otherwise it is cut to them. */
  readonly exact?: boolean;
}

/**
 * Money, and the statistics of owners that are no players. Never read a balance to decide whether to take from it: two servers
 * would both sell. `spend` and `transact` decide and take in one step.
 *
 * Amounts have at most four digits behind the point. JavaScript's numbers hold them exactly up to 900 billion; the rests of
 * calculating with them, as in `0.1 + 0.2`, are removed before an amount is sent.
 */
export class EconomyApi {
  constructor(private readonly transport: Transport) {}

  /** All balances of an owner. */
  balances(ownerType: string, ownerKey: string): Promise<CurrencyBalance[]> {
    return this.transport.send({ method: "GET", path: path`economy/${ownerType}/${ownerKey}/currencies` });
  }

  /**
   * Adds to a balance, or takes from it. With `exact` all or nothing: it fails with `insufficient_funds` or `over_maximum`, and then
   * nothing has changed. Without, `applied` has the actual change.
   */
  async modify({ ownerType, ownerKey, amount, ...change }: BalanceChange): Promise<ModifiedBalance> {
    return this.transport.send({
      method: "POST",
      path: path`economy/${ownerType}/${ownerKey}/currencies/modify`,
      body: { ...change, amount: decimal(amount) },
      repeat: "keyed",
    });
  }

  /** Takes money from a player for a purchase, or fails with `insufficient_funds`. */
  spend(player: string, currency: string, price: number, reason?: string): Promise<ModifiedBalance> {
    return this.modify({ ownerType: "player", ownerKey: player, currency, amount: -price, exact: true, ...optional(reason) });
  }

  /**
   * Applies 1 to 16 changes, all or none. Fails with `insufficient_funds` or `over_maximum`; the error's
   * `details.operation` is the index of the first change that was not possible.
   */
  async transact(operations: BalanceOperation[], reason?: string): Promise<TransactionReceipt> {
    const body = { operations: operations.map((each) => ({ ...each, amount: decimal(each.amount) })), reason };
    return this.transport.send({ method: "POST", path: path`economy/transactions`, body, repeat: "keyed" });
  }

  /** Moves money from one player to another, or fails with `insufficient_funds`. */
  pay(from: string, to: string, currency: string, amount: number, reason?: string): Promise<TransactionReceipt> {
    const operation = (ownerKey: string, part: number) => ({ ownerType: "player", ownerKey, currency, amount: part });
    return this.transact([operation(from, -amount), operation(to, amount)], reason);
  }

  /** The owners of a type (`player` unless set) who have most of a currency. */
  currencyLeaderboard(currency: string, options: { ownerType?: string; limit?: number } = {}): Promise<CurrencyLeaderboard> {
    return this.transport.send({ method: "GET", path: path`economy/currencies/leaderboard`, query: { currency, ...options } });
  }

  /** The owners of a type with the highest values of a statistic; unless set: `global`, LIFETIME and `player`. */
  statisticLeaderboard(
    name: string,
    options: { gameMode?: string; period?: StatisticPeriod; ownerType?: string; limit?: number } = {},
  ): Promise<StatisticLeaderboard> {
    return this.transport.send({ method: "GET", path: path`economy/leaderboard`, query: { name, ...options } });
  }

  /** An owner's statistics, of the game mode `global` unless set. */
  statistics(ownerType: string, ownerKey: string, gameMode?: string): Promise<OwnerStatistics> {
    return this.transport.send({ method: "GET", path: path`economy/${ownerType}/${ownerKey}/statistics`, query: { gameMode } });
  }

  /** Adds to an owner's statistic. */
  increment(
    ownerType: string, ownerKey: string, name: string, amount: number, gameMode?: string,
  ): Promise<IncrementedStatistic> {
    return this.transport.send({
      method: "POST",
      path: path`economy/${ownerType}/${ownerKey}/statistics/increment`,
      body: { name, amount, gameMode },
      repeat: "keyed",
    });
  }
}

function optional(reason: string | undefined): { reason?: string } {
  return reason === undefined ? {} : { reason };
}

/** The amount with four digits behind the point; refuses one that was meant to have more. */
export function decimal(amount: number): number {
  const rounded = Number(amount.toFixed(4));
  const isExact = Math.abs(rounded - amount) <= Math.abs(amount) * 1e-12 + 1e-9;
  if (!Number.isFinite(amount) || !isExact || Math.abs(amount) > 900e9) {
    throw new HubError("invalid_amount", `${amount} is no amount: at most 4 digits behind the point, at most 900 billion.`);
  }
  return rounded;
}
