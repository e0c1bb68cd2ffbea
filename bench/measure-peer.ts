import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { encodeBlock } from '../bus-schemas/blocks.js'
import { feedSubject } from '../bus-schemas/subjects.js'
import type { Block } from '../core/model/change.js'
import type { Bus } from '../runtime/bus/bus.js'
import { cpuMsOf, residentKibOf } from './process-usage.js'
import type { Received, SubscribersTask } from './subscriber-messages.js'

/** A running process that sends the book to subscribers. */
export interface Peer {
  /** Its processes: that which encodes the frames, and those that pass them on. */
  readonly pids: readonly number[]
  readonly port: number
}

export interface Measurement {
  readonly deliveries: number
  readonly gaps: number
  readonly duplicates: number
  /** From the first append to the last frame of the last subscriber. */
  readonly tookMs: number
  /** From before a block's append to a frame's arrival. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of the peer during the burst. */
  readonly cpuMs: number
  /** Memory of the peer when all clients had subscribed and before the first frame. */
  readonly residentKib: number
}

export interface Burst {
  readonly bus: Bus
  readonly blocks: readonly Block[]
  /** Interval between appends; 0 appends as fast as the bus accepts. */
  readonly everyMs: number
  readonly processes: number
  readonly socketsEach: number
}

/** Connects subscribers to a peer, appends the blocks, and waits until every subscriber has every frame. */
export async function measurePeer({ pids, port }: Peer, burst: Burst): Promise<Measurement> {
  const { blocks, processes, socketsEach: sockets } = burst
  const changes = blocks.reduce((sum, block) => sum + block.changes.length, 0)
  const task = { port, sockets, firstSeq: blocks[0]?.firstSeq ?? 1, changes }
  const children = Array.from({ length: processes }, () => startSubscribers(task))
  await all(children)
  const residentKib = sum(pids.map(residentKibOf))
  const cpuBefore = sum(pids.map(cpuMsOf))
  const begun = performance.now()
  const receiving = all(children)
  const appendedMs = await append(burst)
  await receiving
  const tookMs = performance.now() - begun
  const cpuMs = sum(pids.map(cpuMsOf)) - cpuBefore
  const answers = all<Received>(children)
  for (const child of children) child.send(appendedMs)
  const received = await answers
  return {
    deliveries: changes * processes * sockets,
    gaps: sum(received.map(({ gaps }) => gaps)),
    duplicates: sum(received.map(({ duplicates }) => duplicates)),
    tookMs,
    cpuMs,
    residentKib,
    ...percentiles(received),
  }
}

export function startSubscribers(task: SubscribersTask): ChildProcess {
  const child = fork(fileURLToPath(new URL('./subscribers.js', import.meta.url)))
  child.send(task)
  return child
}

/** The next message of each. */
export async function all<Message>(children: readonly ChildProcess[]): Promise<Message[]> {
  const messages = await Promise.all(children.map((child) => once(child, 'message')))
  return messages.map(([message]) => message as Message)
}

/** Start of the append of each change, Unix milliseconds with fractions. */
async function append({ bus, blocks, everyMs }: Burst): Promise<number[]> {
  const begunMs: number[] = []
  const start = performance.now()
  for (const [index, block] of blocks.entries()) {
    if (everyMs > 0) await delay(start + index * everyMs - performance.now())
    const nowMs = performance.timeOrigin + performance.now()
    begunMs.push(...block.changes.map(() => nowMs))
    await bus.append(feedSubject(block.market), encodeBlock(block))
  }
  return begunMs
}

export function percentiles(received: readonly Received[]): { p50Ms: number; p99Ms: number } {
  const rows = received.flatMap(({ tenthsOfMs }) => tenthsOfMs).sort(([a], [b]) => a - b)
  const total = sum(rows.map(([, count]) => count))
  const percentile = (share: number): number => {
    let seen = 0
    const row = rows.find(([, count]) => (seen += count) >= total * share)
    return (row?.[0] ?? 0) / 10
  }
  return { p50Ms: percentile(0.5), p99Ms: percentile(0.99) }
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
