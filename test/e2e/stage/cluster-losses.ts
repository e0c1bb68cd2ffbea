import { expect } from 'chai'
import { eventually } from '../../support/eventually.js'
import type { TestVenue } from '../../support/venue.js'
import type { ClusterHost, ClusterVenue } from './cluster-venue.js'
import { scrape, targetsOf } from './metrics.js'

/** What a cluster venue can lose, and which copy of a process works. */

/** One thing that is lost, and given back afterwards. */
export interface Loss {
  readonly what: string
  /** Resolves with where it was, when that is not in `what`. */
  readonly lose: () => Promise<string | undefined>
  readonly mend: () => Promise<void>
}

/** By process: a metric that a copy shows only while it works, and then above `least`. */
const WORKING: Readonly<Record<string, { readonly metric: string; readonly least: number }>> = {
  'matcher-cngn-usdc': { metric: 'venue_matcher_ready', least: 1 },
  'order-intake': { metric: 'venue_orders_refused', least: 0 },
  'chain-reader': { metric: 'venue_chain_silent_seconds', least: 0 },
  executor: { metric: 'venue_executor_ready', least: 0 },
  'deposit-submitter': { metric: 'venue_gas_balance_wei', least: 0 },
  'withdrawal-submitter': { metric: 'venue_gas_balance_wei', least: 0 },
}

/** Each works on both hosts. */
const BESIDE_EACH_OTHER = ['gateway', 'ws-fanout', 'projector']
/** Neither belongs to the venue. */
const NOT_OF_THE_VENUE = ['chain', 'feeder']
const DOUBLED_WITHIN_MS = 120_000

/** What a run must lose at least once: the whole set of each host, each server, each process that works, and each server's routes. */
export function neededLosses({ hosts, nats }: ClusterVenue): readonly Loss[] {
  return [
    ...hosts.map(ofWholeHost),
    ...nats.servers.flatMap((server): Loss[] => [
      {
        // The third host runs nothing else.
        what: `server ${server.name} is killed${isOfHost(hosts, server.name) ? '' : ', all that host c runs'}`,
        lose: async () => void (await server.kill()),
        mend: () => server.restart(),
      },
      {
        what: `server ${server.name} is cut off from the others`,
        lose: () => Promise.resolve(void server.isolate()),
        mend: () => Promise.resolve(server.heal()),
      },
    ]),
    ...Object.keys(WORKING).map((name) => ofCopy(hosts, name, true)),
  ]
}

/** What it loses besides: standbys, and processes of which both copies work. */
export function furtherLosses({ hosts }: ClusterVenue): readonly Loss[] {
  return [
    ...Object.keys(WORKING).map((name) => ofCopy(hosts, name, false)),
    ...hosts.flatMap((host) =>
      BESIDE_EACH_OTHER.map((name): Loss => ({
        what: `${name} of host ${host.name} is killed`,
        lose: async () => void (await kill(host.venue, name)),
        mend: () => Promise.resolve(),
      })),
    ),
  ]
}

/** Resolves when every process runs on both hosts and works on one of them, or on both where both may. */
export async function untilDoubled({ hosts }: ClusterVenue): Promise<void> {
  const names = Object.keys(WORKING)
  for (const { name: host, venue } of hosts)
    for (const name of [...names, ...BESIDE_EACH_OTHER])
      await eventually(
        async () => expect(await pidOf(venue, name), `${name} of host ${host}`).to.be.a('number'),
        DOUBLED_WITHIN_MS,
      )
  for (const name of names) await placesOf(hosts, name)
}

const isOfHost = (hosts: ClusterVenue['hosts'], server: string): boolean =>
  hosts.some((host) => host.server.name === server)

/** The launcher starts no process again before `mend`: the host is gone. */
function ofWholeHost({ name, venue, server }: ClusterHost): Loss {
  return {
    what: `everything of host ${name} is killed`,
    lose: async () => {
      process.kill(venue.launcherPid, 'SIGSTOP')
      for (const [name, pid] of Object.entries(await venue.pids()))
        if (!NOT_OF_THE_VENUE.includes(name) && isRunning(pid)) process.kill(pid, 'SIGKILL')
      await server.kill()
      return undefined
    },
    mend: async () => {
      await server.restart()
      process.kill(venue.launcherPid, 'SIGCONT')
    },
  }
}

/** The launcher starts the process again by itself. */
function ofCopy(hosts: ClusterVenue['hosts'], name: string, works: boolean): Loss {
  return {
    what: `the ${name} that ${works ? 'works' : 'stands by'} is killed`,
    lose: async () => {
      const [working, standby] = await placesOf(hosts, name)
      const host = works ? working : standby
      await kill(host.venue, name)
      return `of host ${host.name}`
    },
    mend: () => Promise.resolve(),
  }
}

/** It may be about to be started again. */
async function kill(venue: TestVenue, name: string): Promise<void> {
  await eventually(async () => {
    const pid = await pidOf(venue, name)
    if (pid === undefined) throw new Error(`${name} does not run`)
    process.kill(pid, 'SIGKILL')
  }, DOUBLED_WITHIN_MS)
}

async function pidOf(venue: TestVenue, name: string): Promise<number | undefined> {
  const pid = (await venue.pids())[name]
  return pid !== undefined && isRunning(pid) ? pid : undefined
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The host where the process works, and the other one, once it works on one alone. */
async function placesOf(
  [a, b]: ClusterVenue['hosts'],
  name: string,
): Promise<readonly [ClusterHost, ClusterHost]> {
  let isAtA = false
  await eventually(async () => {
    const [atA, atB] = await Promise.all([worksAt(a, name), worksAt(b, name)])
    if (atA === atB) throw new Error(`${name} works on ${atA ? 'both hosts' : 'neither host'}`)
    isAtA = atA
  }, DOUBLED_WITHIN_MS)
  return isAtA ? [a, b] : [b, a]
}

async function worksAt({ venue: { dataDir } }: ClusterHost, name: string): Promise<boolean> {
  const { metric, least } = WORKING[name] ?? { metric: '', least: 0 }
  const target = [...targetsOf(dataDir).keys()].find((each) => each.toLowerCase().startsWith(name))
  if (target === undefined) return false
  const shown = await scrape(dataDir, target).catch(() => [])
  return shown.some(({ series, value }) => series.startsWith(metric) && Number(value) >= least)
}
