import { decodeLiquidations } from '../../bus-schemas/liquidations.js'
import { liquidationsStream } from '../../bus-schemas/subjects.js'
import type { LiquidationWriter } from '../../data/history/liquidations.js'
import {
  MessagesGone,
  stateOrEmpty,
  StreamRolledBack,
  type Bus,
  type Subscription,
} from '../../runtime/bus/bus.js'

export interface LiquidationProjectorOptions {
  readonly bus: Pick<Bus, 'follow' | 'streamState'>
  readonly writer: LiquidationWriter
  /** The stream cannot be followed. */
  readonly onFatal: (error: unknown) => void
}

/**
 * Writes what the stream of liquidations tells into the read model, from where that stands; from the oldest message that is kept
 * where the stream was trimmed beyond it, or was restored and ends before it. Rejects with BusUnavailable.
 */
export async function projectLiquidations(
  options: LiquidationProjectorOptions,
): Promise<Subscription> {
  const { bus, writer, onFatal } = options
  const { firstSeq, lastSeq } = await stateOrEmpty(bus, liquidationsStream)
  const next = writer.position() + 1
  let resumed: Promise<Subscription> | undefined
  const subscription = await bus.follow({
    stream: liquidationsStream,
    fromSeq: next > lastSeq + 1 ? firstSeq : Math.max(next, firstSeq),
    onMessage: ({ seq, data }) => writer.write(seq, decodeLiquidations(data)),
    onError(error) {
      const isMoved = error instanceof MessagesGone || error instanceof StreamRolledBack
      if (isMoved) resumed = projectLiquidations(options)
      else onFatal(error)
      resumed?.catch(onFatal)
    },
  })
  return {
    stop: async () => {
      await subscription.stop()
      await (await resumed)?.stop()
    },
  }
}
