import { commandMessages, type LogMarket } from '../../bus-schemas/commands.js'
import { commandsStream } from '../../bus-schemas/subjects.js'
import type { CloseOut } from '../../core/model/close-out.js'
import type { MarketObservation } from '../../core/model/observation.js'
import { MessagesGone, type Bus, type Subscription } from './bus.js'

export interface ObservationsOptions {
  readonly bus: Pick<Bus, 'follow'>
  readonly market: LogMarket
  /** Where to start; asked again when what follows was trimmed meanwhile. */
  readonly fromSeq: () => Promise<number>
  /** Called with each observation of the market in its command log and the sequence of its message. */
  readonly onObserved: (observation: MarketObservation, streamSeq: number) => void
  /** Called with the positions that the chain has closed, as the log tells of them. Absent where nothing takes them. */
  readonly onClosed?: (closed: readonly CloseOut[]) => void
  /** The log cannot be followed. */
  readonly onFailure: (error: Error) => void
}

/** Follows what a market's command log says of the market on the chain, through trims of the log. Rejects as `fromSeq` does. */
export async function followObservations(options: ObservationsOptions): Promise<Subscription> {
  const { bus, market, onObserved, onClosed, onFailure } = options
  const { take } = commandMessages(market)
  let resumed: Promise<Subscription> | undefined
  const subscription = await bus.follow({
    stream: commandsStream(market.market),
    fromSeq: await options.fromSeq(),
    onMessage(message) {
      // Nearly all messages are orders, which are not worth decoding here.
      if (!mentions(message.data)) return
      for (const { command } of take(message)) {
        if (command.kind === 'MarketObserved') onObserved(command.observation, message.seq)
        if (command.kind === 'PositionsClosed') onClosed?.(command.closed)
      }
    },
    onError(error) {
      // The log was trimmed while the bus was away.
      if (error instanceof MessagesGone) resumed = followObservations(options)
      else onFailure(error)
      resumed?.catch(onFailure)
    },
  })
  return {
    stop: async () => {
      await subscription.stop()
      await (await resumed)?.stop()
    },
  }
}

const KINDS = ['"MarketObserved"', '"PositionsClosed"'].map((kind) => Buffer.from(kind))
const mentions = (data: Uint8Array): boolean => {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return KINDS.some((kind) => bytes.includes(kind))
}
