import type { AccountFunds, FundsReader } from '../../chain/contracts/funds-reader.js'
import type { Address } from '../../core/action.js'
import type { OpenClaim } from '../../core/contracts/funds.js'
import { accountBalances, orderNeeds, type ClaimsIn } from '../../core/records/balances-record.js'
import { MAX_BALANCE_ACCOUNTS, type AccountBalances } from '../../interface/balances.js'
import type { OwnAccount } from '../../interface/explanation.js'
import type { MarketFeed } from './market-feed.js'
import { setBounded } from './owner-claims.js'

/** Accounts whose last facts are kept, for the time in which the chain does not answer. */
const KEPT_ACCOUNTS = 10_000

export interface BalancesParts {
  /** The feeds of all listed markets. */
  readonly listedFeeds: () => readonly MarketFeed[]
  /** Absent without a node: nothing is known of any account. */
  readonly reader: FundsReader | undefined
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** What owners' accounts hold, as the chain and the feeds show it. */
export interface OwnerBalances {
  /** The accounts with which the owner has ordered lately, at most MAX_BALANCE_ACCOUNTS. */
  knownAccounts(owner: Address): readonly bigint[]
  /**
   * Reads the accounts. One that the chain does not show now is as it was last seen; undefined when one was never seen.
   */
  read(accounts: readonly bigint[]): Promise<readonly AccountFunds[] | undefined>
  /** Presents those of the accounts that are in custody for the owner, with what is claimed of them now. */
  show(owner: Address, accounts: readonly AccountFunds[]): AccountBalances[]
  /** Presents the account of one order, and what the rest of it takes; undefined when it is not in custody for the owner. */
  showOrder(owner: Address, account: AccountFunds, order: RestInMarket): OwnAccount | undefined
}

/** What is not matched of an order, held or open. */
export interface RestInMarket {
  readonly market: string
  readonly rest: OpenClaim
}

export function createBalances({ listedFeeds, reader, nowMs }: BalancesParts): OwnerBalances {
  const kept = new Map<bigint, AccountFunds>()

  async function readOne(subaccountId: bigint): Promise<AccountFunds | undefined> {
    const markets = listedFeeds().map(({ market }) => market)
    const seen = await reader?.readFunds(markets, subaccountId)
    if (seen !== undefined) setBounded(kept, subaccountId, seen, KEPT_ACCOUNTS)
    return seen ?? kept.get(subaccountId)
  }

  function claimsOf(owner: Address, { subaccountId, blockNumber }: AccountFunds): ClaimsIn {
    const feeds = new Map(listedFeeds().map((feed) => [feed.market.market, feed]))
    return (market) => feeds.get(market)?.channels.claims.claimsOf(owner, subaccountId, blockNumber)
  }

  return {
    knownAccounts(owner) {
      const known = listedFeeds().flatMap(({ channels }) => [...channels.claims.accountsOf(owner)])
      return [...new Set(known)].slice(-MAX_BALANCE_ACCOUNTS)
    },
    async read(accounts) {
      const seen = await Promise.all(accounts.map(readOne))
      const complete = seen.filter((one) => one !== undefined)
      return complete.length === accounts.length ? complete : undefined
    },
    show(owner, accounts) {
      const nowAtMs = nowMs()
      return accounts
        .filter(({ custodyOwner }) => custodyOwner === owner)
        .toSorted((a, b) => (a.subaccountId < b.subaccountId ? -1 : 1))
        .map((seen) => accountBalances(seen, claimsOf(owner, seen), nowAtMs))
    },
    showOrder(owner, account, order) {
      if (account.custodyOwner !== owner) return undefined
      const claimsIn = claimsOf(owner, account)
      return {
        subaccount_id: account.subaccountId.toString(),
        ...orderNeeds(account, claimsIn, order),
        balances: accountBalances(account, claimsIn, nowMs()),
      }
    },
  }
}
