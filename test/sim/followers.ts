import type { ClientConnection } from '../../actors/ws-fanout/connection.js'
import type { ClientSession } from '../../actors/ws-fanout/session.js'
import type { BookDelta, BookRecord } from '../../client/index.js'
import { createLocalBook } from '../../client/local-book.js'
import type { Network, Order } from './network.js'
import type { SimulatedProcess } from './process.js'
import type { FanOutFace } from './venue.js'
import type { Actor } from './world.js'

/** A socket client that keeps the book and the trades of a market from frames alone. */
export interface Follower {
  readonly market: string
  /** Sequence that its book has reached; undefined before the first snapshot. */
  seq(): number | undefined
  /** Open amount by order id. */
  openAmounts(): Map<string, string>
  /** Trades seen live, oldest first, and the sequence after which it would have seen each. */
  readonly tradeIds: readonly number[]
  tradesSince(): number | undefined
  /** Lets its socket go; it comes back by itself. */
  disconnect(): void
}

interface Frame {
  readonly type: string
  readonly channel?: string
  readonly seq?: number
  readonly prev_seq?: number
  readonly code?: string
  readonly data?: unknown
}

interface Wire {
  isOpen: boolean
  session?: ClientSession
}

const TRY_AGAIN_MS = 700

export interface FollowerOptions {
  readonly name: string
  readonly market: string
  readonly network: Network
  readonly fanOut: SimulatedProcess<FanOutFace>
  readonly onFinding: (what: string, error: unknown) => void
}

/** Connects, follows, and resumes where it was whenever the connection breaks. */
export function createFollower(options: FollowerOptions): Follower {
  const { name, market, network, fanOut, onFinding } = options
  const { world, random } = network
  const book = createLocalBook()
  const tradeIds: number[] = []
  let tradesFrom: number | undefined
  let tradeSeq: number | undefined
  let wire: Wire | undefined
  const actor: Actor = {
    name,
    alive: true,
    skewMs: 0,
    onFailure: (error) => onFinding(`${name} failed`, error),
  }

  const reset = (frame: Frame): void => {
    if (frame.channel === 'book') book.reset(frame.data as BookRecord, frame.seq ?? 0)
    if (frame.channel !== 'trades') return
    tradeIds.length = 0
    tradeSeq = frame.seq
    tradesFrom = frame.seq
  }

  const update = ({ channel, seq = 0, prev_seq = 0, data }: Frame): void => {
    if (channel === 'book') {
      if (prev_seq !== book.seq()) {
        onFinding(`I-9 ${name}: book frame after ${prev_seq} at ${book.seq() ?? 'nothing'}`, seq)
      }
      book.apply(data as BookDelta, seq)
      return
    }
    if (tradeSeq === undefined || seq <= tradeSeq || prev_seq > tradeSeq) {
      onFinding(
        `I-9 ${name}: trade frame ${seq} after ${prev_seq} at ${tradeSeq ?? 'nothing'}`,
        seq,
      )
    }
    tradeSeq = seq
    tradeIds.push((data as { trade_id: number }).trade_id)
  }

  const take = (frame: Frame): void => {
    if (frame.type === 'snapshot') reset(frame)
    if (frame.type === 'update') update(frame)
    if (frame.type === 'error' && frame.code !== 'resume_too_old') disconnect()
  }

  const subscribe = (session: ClientSession): void => {
    for (const [channel, since] of [
      ['book', book.seq()],
      ['trades', tradeSeq],
    ] as const) {
      const resume = since === undefined ? {} : { since_seq: since }
      session.onText(JSON.stringify({ op: 'subscribe', channel, market, ...resume }))
    }
  }

  const connect = (): void => {
    const process = fanOut.actor()
    const face = fanOut.face()
    if (process === undefined || face?.isReady() !== true) {
      world.after(actor, TRY_AGAIN_MS, connect)
      return
    }
    const opened: Wire = { isOpen: true }
    wire = opened
    const connection = connectionOf({ network, actor, wire: opened, process, take })
    world.after(process, 1, () => {
      opened.session = face.converse(connection)
      subscribe(opened.session)
    })
  }

  const disconnect = (): void => {
    const left = wire
    if (left?.isOpen !== true) return
    left.isOpen = false
    const process = fanOut.actor()
    if (process !== undefined) world.after(process, 1, () => left.session?.end())
    world.after(actor, random.int(2 * TRY_AGAIN_MS), connect)
  }

  fanOut.onEnd(disconnect)
  world.after(actor, 0, connect)
  return {
    market,
    seq: () => book.seq(),
    openAmounts: () => book.openAmounts(),
    tradeIds,
    tradesSince: () => tradesFrom,
    disconnect,
  }
}

interface ConnectionParts {
  readonly network: Network
  readonly actor: Actor
  readonly wire: Wire
  readonly process: Actor
  readonly take: (frame: Frame) => void
}

/** The sending side of a socket whose other end is a follower. */
function connectionOf({ network, actor, wire, process, take }: ConnectionParts): ClientConnection {
  const order: Order = { lastMs: 0 }
  const transmit = (text: string): void => {
    network.carry(actor, order, () => {
      if (wire.isOpen) take(JSON.parse(text) as Frame)
    })
  }
  return {
    isOpen: () => wire.isOpen,
    send: transmit,
    deliver: (frames) => textsOf(frames).forEach(transmit),
    writeBulk(parts) {
      if (!wire.isOpen) return Promise.resolve(false)
      textsOf(Buffer.concat(parts)).forEach(transmit)
      return new Promise((resolve) => {
        network.carry(process, undefined, () => resolve(wire.isOpen))
      })
    },
    pause: () => undefined,
    resume: () => undefined,
    close: () => {
      wire.isOpen = false
    },
  }
}

/** The texts of complete unmasked frames laid end to end. */
function textsOf(frames: Buffer): string[] {
  const texts: string[] = []
  for (let at = 0; at < frames.length;) {
    let length = frames.readUInt8(at + 1)
    at += 2
    if (length === 126) length = frames.readUInt16BE((at += 2) - 2)
    else if (length === 127) length = Number(frames.readBigUInt64BE((at += 8) - 8))
    texts.push(frames.toString('utf8', at, at + length))
    at += length
  }
  return texts
}
