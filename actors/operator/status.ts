import { join } from 'node:path'
import type { MarketReason } from '../../interface/reasons.js'
import type { Health } from '../../interface/venue.js'
import { LAG_EVERY_MS } from '../../runtime/metrics/metrics.js'
import { readMetrics, samplesOf, type ProcessMetrics } from './read-metrics.js'

/** How a running venue is, as its processes and its gateway say it. */
export interface VenueStatus {
  readonly isWell: boolean
  /** Why it is not, one line each. */
  readonly troubles: readonly string[]
  readonly gateway: string | undefined
  readonly processes: readonly ProcessStatus[]
  readonly markets: readonly MarketStatus[]
  readonly wallets: readonly WalletStatus[]
  /** Absent while the executor does not answer. */
  readonly lostGas?: LostGasStatus
  readonly chain: { readonly blockAgeSec?: number; readonly silentSec?: number }
  readonly bus: { readonly usedBytes?: number; readonly maxBytes?: number }
  readonly diskFreeBytes?: number
}

export interface ProcessStatus {
  readonly process: string
  readonly isUp: boolean
  readonly memoryBytes?: number
  /** The lag of one turn in a hundred. */
  readonly eventLoopP99Sec?: number
}

export interface MarketStatus {
  readonly market: string
  /**
   * `open`, `held` or `paused`, with the reason; `ended` of a series whose time is over, which is no trouble; `disabled`;
   * `unknown` while the gateway does not answer.
   */
  readonly status: string
  readonly seq?: number
  /** Changes that the history, and the sockets, are behind. */
  readonly historyLag?: number
  readonly socketsLag?: number
  readonly pendingSettlements?: number
  readonly oldestPendingSec?: number
  readonly checkpointAgeSec?: number
}

export interface WalletStatus {
  /** The process that sends from it. */
  readonly wallet: string
  readonly address: string
  readonly balanceWei?: number
  readonly reserveWei?: number
  readonly isPaused: boolean
}

/** Gas that signers that are code have lost within the last hour. */
export interface LostGasStatus {
  readonly gas: number
  /** Unix seconds from which on it is counted. */
  readonly sinceSec: number
  /** Those that have lost most, the most first. */
  readonly top: readonly { readonly signer: string; readonly owner: string; readonly gas: number }[]
}

export interface StatusDeps {
  readonly dataDir: string
  /** Address of the gateway; undefined where it is not known. */
  readonly gatewayUrl: string | undefined
  readonly nowMs: number
}

const ANSWER_WITHIN_MS = 10_000
/** The hold that no one lifts: it comes with the calendar, and ends when the market is disabled. */
const ENDED: MarketReason = 'trading_ended'

/** Asks every process for its metrics and the gateway for the venue's health; never rejects. */
export async function readStatus(deps: StatusDeps): Promise<VenueStatus> {
  const [processes, answered, missing] = await Promise.all([
    readMetrics(join(deps.dataDir, 'metrics')),
    ask<Partial<Health>>(deps.gatewayUrl, '/v1/health'),
    ask<{ readonly missing?: Readonly<Record<string, string>> }>(deps.gatewayUrl, '/readyz'),
  ])
  // Another program may answer at that port.
  const health = answered?.markets === undefined ? undefined : { markets: answered.markets }
  const markets = marketsOf(processes, health, deps.nowMs)
  const wallets = walletsOf(processes)
  const troubles = [
    ...silences(deps.dataDir, processes, health !== undefined),
    ...[...silentServers(processes)].map(
      (server) => `the message server ${server} does not answer`,
    ),
    ...Object.entries(missing?.missing ?? {}).map(([part, why]) => `${part}: ${why}`),
    ...markets
      .filter(({ status }) => /^held|^unknown/.test(status))
      .map(({ market, status }) => `${market}: ${status}`),
    ...samplesOf(processes, 'venue_upkeep_late_seconds').map(
      ({ labels, value }) => `upkeep is late: ${labels.job} has been due for ${value} s`,
    ),
    ...wallets.filter(isShort).map(({ wallet }) => `the wallet of ${wallet} is short of gas`),
  ]
  const one = (name: Parameters<typeof samplesOf>[1]) => samplesOf(processes, name)[0]?.value
  const least = (name: Parameters<typeof samplesOf>[1]): number | undefined => {
    const values = samplesOf(processes, name).map(({ value }) => value)
    return values.length === 0 ? undefined : Math.min(...values)
  }
  const blockSec = one('venue_chain_block_timestamp_seconds')
  return {
    isWell: troubles.length === 0,
    troubles,
    gateway: deps.gatewayUrl,
    markets,
    wallets,
    processes: processes.map(statusOf),
    chain: defined({
      blockAgeSec: blockSec === undefined ? undefined : Math.round(deps.nowMs / 1_000 - blockSec),
      silentSec: one('venue_chain_silent_seconds'),
    }),
    bus: defined({ usedBytes: one('venue_bus_used_bytes'), maxBytes: one('venue_bus_max_bytes') }),
    ...defined({ diskFreeBytes: least('venue_disk_free_bytes') }),
    ...lostGasOf(processes),
  }
}

/** Processes that do not answer, a line each; one line when none does. */
function silences(
  dataDir: string,
  processes: readonly ProcessMetrics[],
  gatewayAnswers: boolean,
): string[] {
  const silent = processes.filter(({ values }) => values === undefined)
  if (silent.length > 0 && silent.length === processes.length && !gatewayAnswers)
    return ['no process answers: is the venue running?']
  return [
    ...(processes.length === 0
      ? [`no process has written its address into ${dataDir}/metrics`]
      : []),
    ...silent.map(({ process }) => `${process} does not answer`),
    ...(gatewayAnswers ? [] : ['the gateway does not answer']),
  ]
}

/** Servers of the bus that a process does not reach. */
const silentServers = (processes: readonly ProcessMetrics[]): ReadonlySet<string> =>
  new Set(
    samplesOf(processes, 'venue_bus_server_up')
      .filter(({ value }) => value === 0)
      .map(({ labels }) => labels.server ?? ''),
  )

const isShort = ({ balanceWei = Infinity, reserveWei = 0, isPaused }: WalletStatus): boolean =>
  isPaused || balanceWei < reserveWei

function statusOf(metrics: ProcessMetrics): ProcessStatus {
  const of = (name: Parameters<typeof samplesOf>[1]) => samplesOf([metrics], name)[0]?.value
  return {
    process: metrics.process,
    isUp: metrics.values !== undefined,
    ...defined({
      memoryBytes: of('process_resident_memory_bytes'),
      eventLoopP99Sec: lagOf(of('nodejs_eventloop_lag_p99_seconds')),
    }),
  }
}

/** The lag alone, to the microsecond. */
const lagOf = (reportedSec: number | undefined): number | undefined =>
  reportedSec && Math.max(0, Math.round((reportedSec - LAG_EVERY_MS / 1_000) * 1e6) / 1e6)

function marketsOf(
  processes: readonly ProcessMetrics[],
  health: Pick<Health, 'markets'> | undefined,
  nowMs: number,
): MarketStatus[] {
  const seqs = samplesOf(processes, 'venue_market_seq')
  const names = new Set([
    ...seqs.map(({ labels }) => labels.market ?? ''),
    ...Object.keys(health?.markets ?? {}),
  ])
  return [...names].toSorted().map((market) => {
    const of = (name: Parameters<typeof samplesOf>[1], follower?: string): number | undefined => {
      const found = samplesOf(processes, name).filter(
        ({ labels }) =>
          labels.market === market && (follower === undefined || labels.follower === follower),
      )
      if (found.length === 0) return undefined
      const values = found.map(({ value }) => value)
      // Of the copies of a reader the slowest counts, of matchers the one that leads.
      return follower === undefined ? Math.max(...values) : Math.min(...values)
    }
    const seq = of('venue_market_seq')
    const behind = (reached: number | undefined) =>
      seq === undefined || reached === undefined ? undefined : Math.max(0, seq - reached)
    const sealed = of('venue_checkpoint_timestamp_seconds')
    return {
      // The gateway lists every enabled market.
      market,
      status: health === undefined ? 'unknown' : tradingOf(health.markets[market]),
      ...defined({
        seq,
        historyLag: behind(of('venue_follower_seq', 'history')),
        socketsLag: behind(of('venue_follower_seq', 'sockets')),
        pendingSettlements: of('venue_pending_settlements'),
        oldestPendingSec: of('venue_oldest_pending_settlement_seconds'),
        checkpointAgeSec: sealed === undefined ? undefined : Math.round(nowMs / 1_000 - sealed),
      }),
    }
  })
}

function tradingOf(health: Health['markets'][string] | undefined): string {
  if (health === undefined) return 'disabled'
  const { trading_status: shown = 'open', trading_status_reason: reason, trouble } = health
  const { waiting_pairs: pairs = 0 } = health
  const waiting = pairs > 0 ? `pairs of signers that wait: ${pairs}` : undefined
  const status = shown === 'held' && reason === ENDED ? 'ended' : shown
  const why = [reason, trouble, waiting].filter((text) => text !== undefined).join('; ')
  return why === '' ? status : `${status} (${why})`
}

function walletsOf(processes: readonly ProcessMetrics[]): WalletStatus[] {
  const reserves = samplesOf(processes, 'venue_gas_reserve_wei')
  const valueOf = (name: Parameters<typeof samplesOf>[1], wallet: string) =>
    samplesOf(processes, name).find(({ labels }) => labels.wallet === wallet)?.value
  return reserves.map(({ labels: { wallet = '', address = '' }, value: reserveWei }) => ({
    wallet,
    address,
    reserveWei,
    isPaused: valueOf('venue_gas_paused', wallet) === 1,
    ...defined({ balanceWei: valueOf('venue_gas_balance_wei', wallet) }),
  }))
}

function lostGasOf(processes: readonly ProcessMetrics[]): Pick<VenueStatus, 'lostGas'> {
  const gas = samplesOf(processes, 'venue_lost_gas')[0]?.value
  const sinceSec = samplesOf(processes, 'venue_lost_gas_since_timestamp_seconds')[0]?.value
  if (gas === undefined || sinceSec === undefined) return {}
  const top = samplesOf(processes, 'venue_lost_gas_top').map(({ labels, value }) => {
    return { signer: labels.signer ?? '', owner: labels.owner ?? '', gas: value }
  })
  return { lostGas: { gas, sinceSec, top: top.sort((a, b) => b.gas - a.gas) } }
}

/** Without the fields that are undefined. */
const defined = <T extends Readonly<Record<string, number | undefined>>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [Key in keyof T]?: number
  }

/** The JSON of an answer, of whatever status; undefined when there is none. */
async function ask<Answer>(url: string | undefined, path: string): Promise<Answer | undefined> {
  if (url === undefined) return undefined
  try {
    const answer = await fetch(new URL(path, url), {
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    return (await answer.json()) as Answer
  } catch {
    return undefined
  }
}
