import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AccountReader } from '../../chain/reads/read-account.js'
import type { SignatureVerifier } from '../../chain/signing/verify-signature.js'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { Command } from '../../core/model/command.js'
import type { Order } from '../../core/model/order.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import { isFinal, type CommandLogWriter } from './command-log.js'
import { LogMismatch } from './fold-log.js'
import type { MarketHalts } from './market-halts.js'
import {
  followOrders,
  readProof,
  type OrderWatch,
  type Proof,
  type WatchedOrder,
} from './order-watch.js'

export interface SignatureWatchOptions {
  readonly bus: Bus
  readonly registry: IntakeRegistry
  readonly watch: OrderWatch
  /** The signed digest of an order. */
  readonly digestOf: (order: Order) => Hex
  readonly verifier: SignatureVerifier
  readonly accounts: AccountReader
  /** By market. */
  readonly commandLogs: ReadonlyMap<string, CommandLogWriter>
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly recheckEveryMs: number
  readonly log: Logger
  /** Takes the terms that the feeds state. */
  readonly halts: Pick<MarketHalts, 'state' | 'stop'>
  /** Feed, log or registry failed for good. */
  readonly onFatal: (error: unknown) => void
}

export interface SignatureWatch extends RunningProcess {
  /** Follows the live orders of one market, which has a command log. */
  follow(market: string): Promise<void>
}

/** Follows the live orders of markets and checks their signatures again in rounds. */
export function watchSignatures(options: SignatureWatchOptions): SignatureWatch {
  const { commandLogs } = options
  const feeds: RunningProcess[] = []
  const rounds = repeatRechecks(options, {
    ...options,
    readProof: (order) => readProof(options.bus, order, options.digestOf),
    submit: async (market, command) => {
      const commandLog = commandLogs.get(market)
      assert(commandLog !== undefined, `an order of ${market}, which has no command log`)
      return (await commandLog.submit({ command })).kind === 'logged'
    },
  })
  return {
    follow: async (market) => void feeds.push(await followOrders({ ...options, market })),
    stop: async () => {
      await rounds.stop()
      await Promise.all(feeds.map((feed) => feed.stop()))
    },
  }
}

/** One round after the other, with a pause in between; results that could not be logged are logged by the next round. */
function repeatRechecks(
  { recheckEveryMs, log, halts, onFatal }: SignatureWatchOptions,
  deps: RecheckDeps,
): RunningProcess {
  let timer: NodeJS.Timeout | undefined
  let round = Promise.resolve()
  let stopping = false
  const failed = (error: unknown): void => {
    if (error instanceof LogMismatch) halts.stop(error.market, error.message)
    else if (isFinal(error)) return onFatal(error)
    if (!stopping) log.error({ err: error }, 'signatures could not be checked again')
  }
  const schedule = (): void => {
    if (stopping) return
    timer = setTimeout(() => {
      round = recheckSignatures(deps).catch(failed).then(schedule)
    }, recheckEveryMs)
  }
  schedule()
  return {
    stop: async () => {
      stopping = true
      clearTimeout(timer)
      await round
    },
  }
}

/** Most signers of one round, with priority and without each. */
const MAX_SIGNERS_PER_ROUND = 500
/** Orders checked concurrently and in one turn of the event loop; their chain reads share batches. */
const CONCURRENT_CHECKS = 100

export interface RecheckDeps {
  readonly watch: OrderWatch
  readonly verifier: Pick<SignatureVerifier, 'hasCode' | 'verifyDigest'>
  readonly accounts: Pick<AccountReader, 'readSessionKeyExpiry'>
  /** Reads what was signed of an order that does not keep it. */
  readonly readProof: (order: WatchedOrder) => Promise<Proof>
  /** Submits a command to a market's log; false when it was refused. */
  readonly submit: (market: string, command: Command) => Promise<boolean>
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/**
 * Checks live orders against the chain again: unchecked ones, those of wallet contracts and session keys, and whether a
 * plain key has become a contract. A changed result goes into the log; without an answer of the chain nothing changes.
 * Resolves at the end of the round; rejects with what `submit` throws.
 */
export async function recheckSignatures(deps: RecheckDeps): Promise<void> {
  const { watch } = deps
  const orders = watch.next(MAX_SIGNERS_PER_ROUND)
  const plainKeys = new Set<Address>()
  const stands = ({ owner, signer, recovered, unchecked }: WatchedOrder): boolean =>
    signer === owner && recovered && !unchecked && plainKeys.has(owner)
  for (let at = 0; at < orders.length; at += CONCURRENT_CHECKS) {
    const checks: Promise<void>[] = []
    for (const order of orders.slice(at, at + CONCURRENT_CHECKS)) {
      if (stands(order)) watch.prioritise(order, false)
      else checks.push(recheck(deps, plainKeys, order))
    }
    await Promise.all(checks)
    // What is known without a read of the chain resolves at once: thousands of orders would hold up those that arrive.
    await nextTurn()
  }
}

/** `plainKeys` are owners whose key has no code in this round: what was recovered to one of them stands. */
async function recheck(
  deps: RecheckDeps,
  plainKeys: Set<Address>,
  order: WatchedOrder,
): Promise<void> {
  const { watch, submit } = deps
  const [signature, keyEndsSec] = await Promise.all([
    judgeSignature(deps, plainKeys, order),
    readKeyEnd(deps, order),
  ])
  const key = judgeKey(deps, keyEndsSec)
  if (key === 'valid') await noteKeyEnd(deps, order, keyEndsSec)
  const isValid = signature.kind === 'valid' && key === 'valid'
  const isInvalid = signature.kind === 'invalid' || key === 'invalid'
  const found = isValid ? 'valid' : isInvalid ? 'invalid' : undefined
  if (found === undefined || !watch.isLive(order)) return
  // The market trusts code less than a key, even if the signature is still valid.
  const turnedCode = isValid && signature.byCode && !order.byCode
  const isNews = found !== order.logged && (found === 'invalid' || order.unchecked)
  if (!isNews && !turnedCode) return
  const { market, orderId } = order
  const byCode = turnedCode ? ({ byCode: true } as const) : {}
  const isLogged = await submit(market, {
    kind: 'SignatureChecked',
    orderId,
    valid: isValid,
    ...byCode,
  })
  if (!isLogged) return
  order.logged = found
  order.byCode ||= turnedCode
}

type Judgement = 'valid' | 'invalid' | 'unknown'

async function judgeSignature(
  { verifier, watch, readProof }: RecheckDeps,
  plainKeys: Set<Address>,
  order: WatchedOrder,
): Promise<{ readonly kind: Judgement; readonly byCode: boolean }> {
  const { signer, owner } = order
  const contract = await verifier.hasCode(signer)
  if (contract === undefined) return { kind: 'unknown', byCode: false }
  if (!contract && signer === owner) plainKeys.add(owner)
  watch.prioritise(order, contract || order.unchecked || signer !== owner)
  if (!contract && order.recovered) return { kind: 'valid', byCode: false }
  order.proof ??= await readProof(order)
  const { digest, signature } = order.proof
  const verdict = await verifier.verifyDigest(signer, digest(), signature)
  if (verdict.kind === 'valid' && !verdict.byCode) {
    order.recovered = true
    order.proof = undefined
  }
  return { kind: verdict.kind, byCode: verdict.kind === 'valid' && verdict.byCode }
}

/** The owner's own key has no end. */
type KeyEnd = bigint | 'never' | undefined

const readKeyEnd = (
  { accounts }: RecheckDeps,
  { owner, signer }: WatchedOrder,
): KeyEnd | Promise<KeyEnd> =>
  signer === owner ? 'never' : accounts.readSessionKeyExpiry(owner, signer)

function judgeKey({ nowMs }: RecheckDeps, endsSec: KeyEnd): Judgement {
  if (endsSec === undefined) return 'unknown'
  return endsSec !== 'never' && endsSec * 1_000n <= BigInt(nowMs()) ? 'invalid' : 'valid'
}

/** Logs the key's end if the log lacks it: the market takes the order out of matching before, and ends it then. */
async function noteKeyEnd(
  { submit, watch }: RecheckDeps,
  order: WatchedOrder,
  keyEnd: KeyEnd,
): Promise<void> {
  if (typeof keyEnd !== 'bigint' || !watch.isLive(order)) return
  const { market, orderId, goodUntilSec } = order
  const endsSec = keyEnd < BigInt(goodUntilSec) ? Number(keyEnd) : goodUntilSec
  if (endsSec === order.keyEndsSec) return
  const isLogged = await submit(market, { kind: 'SessionKeyObserved', orderId, endsSec })
  if (isLogged) order.keyEndsSec = endsSec
}
