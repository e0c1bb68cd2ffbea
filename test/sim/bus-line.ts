import {
  AppendUnknown,
  type AppendOptions,
  type Bus,
  type FollowOptions,
  type Subscription,
} from '../../runtime/bus/bus.js'
import type { MemoryBus } from '../../runtime/bus/memory-bus.js'
import type { Network, Order } from './network.js'
import type { Actor } from './world.js'

/** One process's connection to the bus, over the network with its faults. */
export interface BusLine {
  readonly bus: Bus
  /** Cuts the connection from the server, or restores it. */
  setConnected(connected: boolean): void
  /** The process is gone. With `loseSent` what it sent and what has not arrived is lost too. */
  cut(loseSent: boolean): void
}

/** How long a client waits for an acknowledgement before it does not know. */
const ACK_TIMEOUT_MS = 2_000

interface Line {
  readonly network: Network
  readonly actor: Actor
  readonly server: MemoryBus
  readonly there: Order
  readonly back: Order
  isCut: boolean
  losesSent: boolean
}

/** Connects an actor to the server in memory. Every call and every delivery takes its time on the wire. */
export function connectLine(network: Network, server: MemoryBus, actor: Actor): BusLine {
  const line: Line = {
    network,
    actor,
    server: server.connect(),
    isCut: false,
    losesSent: false,
    there: { lastMs: 0 },
    back: { lastMs: 0 },
  }
  const special: Partial<Bus> = {
    append: (subject, data, options) => append(line, subject, data, options ?? {}),
    follow: (options) => follow(line, options),
    answer: (subject, queue, onAsk) =>
      call(line, () =>
        line.server.answer(subject, queue, (data, replyTo) => {
          if (network.random.chance(network.weather.lostAsks)) return
          receive(line, () => onAsk(data, replyTo))
        }),
      ),
    reply: (replyTo, data) => {
      send(line, () => {
        const lost = network.random.chance(network.weather.lostAsks)
        if (!lost && line.server.isConnected()) line.server.reply(replyTo, data)
      })
    },
    isConnected: () => line.server.isConnected(),
  }
  const bus = new Proxy(line.server, {
    get: (target, name: keyof Bus) => {
      const own = special[name]
      if (own !== undefined) return own
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>
      return (...args: unknown[]) => call(line, () => method(...args))
    },
  })
  return {
    bus,
    setConnected: (connected) => line.server.setConnected(connected),
    cut(loseSent) {
      line.isCut = true
      line.losesSent = loseSent
      // What is on its way still arrives over the connection that was open when it left.
      const { world, wire } = network
      const restMs = loseSent ? 0 : line.there.lastMs - world.elapsedMs()
      world.after(wire, restMs, () => void line.server.close())
    },
  }
}

/** Something leaves for the server. */
function send(line: Line, act: () => void): void {
  const { network, actor } = line
  if (!actor.alive) return
  network.carry(network.wire, line.there, () => {
    if (line.isCut && line.losesSent) return
    act()
  })
}

/** Something comes from the server. */
function receive(line: Line, act: () => void): void {
  line.network.carry(line.actor, line.back, act)
}

/** A call over the wire and its answer. */
function call<T>(line: Line, act: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    send(line, () => {
      act().then(
        (value) => receive(line, () => resolve(value)),
        (error: Error) => receive(line, () => reject(error)),
      )
    })
  })
}

type Fate = 'stored' | 'lost' | 'unacknowledged' | 'late' | 'doubled'

function fateOf({ network: { random, weather } }: Line, isFenced: boolean): Fate {
  if (random.chance(weather.lostAppends)) return 'lost'
  if (random.chance(weather.lostAcks)) return 'unacknowledged'
  if (random.chance(weather.lateAppends)) return 'late'
  if (!isFenced && random.chance(weather.doubledAppends)) return 'doubled'
  return 'stored'
}

function append(
  line: Line,
  subject: string,
  data: Uint8Array,
  options: AppendOptions,
): Promise<number> {
  const { network, actor, server } = line
  const { world, random } = network
  const fate = fateOf(line, options.expectedLastSeq !== undefined)
  if (fate !== 'stored') world.note(`${actor.name} append ${subject} ${fate}`)
  return new Promise((resolve, reject) => {
    if (!actor.alive) return
    const unknown = (): void => {
      world.after(actor, ACK_TIMEOUT_MS, () => {
        reject(new AppendUnknown(`${subject}: no acknowledgement`))
      })
    }
    if (fate !== 'stored' && fate !== 'doubled') unknown()
    if (fate === 'lost') return
    const store = (): void => {
      server.append(subject, data, options).then(
        (seq) => {
          if (fate === 'stored' || fate === 'doubled') receive(line, () => resolve(seq))
          // Without its id, as when the server has forgotten the window of recognised repeats.
          if (fate === 'doubled') void server.append(subject, data).catch(() => undefined)
        },
        (error: Error) => {
          if (fate === 'stored' || fate === 'doubled') receive(line, () => reject(error))
        },
      )
    }
    if (fate === 'late') world.after(network.wire, ACK_TIMEOUT_MS + random.int(2_000), store)
    else send(line, store)
  })
}

function follow(line: Line, options: FollowOptions): Promise<Subscription> {
  let stopped = false
  const wrapped: FollowOptions = {
    ...options,
    onMessage: (message) =>
      new Promise((resolve, reject) => {
        const handled = async (): Promise<void> => {
          await options.onMessage(message)
        }
        receive(line, () => {
          if (!stopped) handled().then(resolve, reject)
        })
      }),
    onError: (error) => receive(line, () => options.onError(error)),
  }
  return call(line, async () => {
    const subscription = await line.server.follow(wrapped)
    return {
      stop: () => {
        stopped = true
        return call(line, () => subscription.stop())
      },
    }
  })
}
