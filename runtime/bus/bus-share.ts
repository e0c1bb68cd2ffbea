import type { Bus, Subscription } from './bus.js'

/** The share of a connection was closed while its user still wanted something of it. */
export class BusShareClosed extends Error {
  override readonly name = 'BusShareClosed'
  constructor() {
    super('this share of the bus is closed')
  }
}

/** A connection as one of its users has it. Until it is closed it is the bus itself. */
export interface BusShare extends Bus {
  /**
   * Ends this share and not the connection: from the call on nothing is sent and no handler is called, and calls throw BusShareClosed;
   * an answer is dropped, as one whose asker is gone. What was sent before may still arrive. Resolves when its subscriptions are stopped.
   */
  close(): Promise<void>
}

/** `onError` gets what a handler of questions throws, which would else end the process. */
export function shareBus(bus: Bus, onError: (error: unknown) => void): BusShare {
  const subscriptions = new Set<Subscription>()
  /** Handlers of messages that take their time; a closed share does not wait for them. */
  const handling = new Set<() => void>()
  let isClosed = false
  const assertOpen = (): void => {
    if (isClosed) throw new BusShareClosed()
  }
  /** What is sent or read while the share is open; its answer counts only while it still is. */
  const open = async <T>(call: () => Promise<T>): Promise<T> => {
    assertOpen()
    const answer = await call()
    assertOpen()
    return answer
  }
  const untilHandled = (handled: Promise<void>): Promise<void> =>
    new Promise((resolve, reject) => {
      handling.add(resolve)
      handled.then(resolve, reject).finally(() => handling.delete(resolve))
    })
  const keep = async (subscribing: Promise<Subscription>): Promise<Subscription> => {
    const subscription = await subscribing
    let stopped: Promise<void> | undefined
    const own: Subscription = {
      stop() {
        subscriptions.delete(own)
        // The share's close and its user both stop it, and nats refuses to stop what is stopped.
        return (stopped ??= subscription.stop())
      },
    }
    subscriptions.add(own)
    if (!isClosed) return own
    await own.stop()
    throw new BusShareClosed()
  }
  return {
    declareStream: (spec) => open(() => bus.declareStream(spec)),
    append: (subject, data, options) => open(() => bus.append(subject, data, options)),
    streamState: (stream) => open(() => bus.streamState(stream)),
    streamVersion: (stream) => open(() => bus.streamVersion(stream)),
    raiseStreamVersion: (stream, version) => open(() => bus.raiseStreamVersion(stream, version)),
    lastMessage: (stream) => open(() => bus.lastMessage(stream)),
    read: (stream, fromSeq, limit) => open(() => bus.read(stream, fromSeq, limit)),
    trim: (stream, belowSeq) => open(() => bus.trim(stream, belowSeq)),
    declareClaims: (spec) => open(() => bus.declareClaims(spec)),
    claimOnce: (bucket, key) => open(() => bus.claimOnce(bucket, key)),
    ask: (subject, data, timeoutMs) => open(() => bus.ask(subject, data, timeoutMs)),
    isConnected: () => !isClosed && bus.isConnected(),
    reply(replyTo, data) {
      // An error of work that no caller waits for ends the process, and with it the other users.
      if (!isClosed) bus.reply(replyTo, data)
    },
    follow: async (options) => {
      assertOpen()
      return keep(
        bus.follow({
          ...options,
          onMessage: (message) => {
            const handled = isClosed ? undefined : options.onMessage(message)
            return handled instanceof Promise ? untilHandled(handled) : handled
          },
          onError: (error) => {
            if (!isClosed) options.onError(error)
          },
        }),
      )
    },
    answer: async (subject, queue, onAsk) => {
      assertOpen()
      return keep(
        bus.answer(subject, queue, (data, replyTo) => {
          if (isClosed) return
          try {
            onAsk(data, replyTo)
          } catch (error) {
            onError(error)
          }
        }),
      )
    },
    close: async () => {
      isClosed = true
      for (const letGo of handling) letGo()
      await Promise.all(Array.from(subscriptions, (each) => each.stop()))
    },
  }
}
