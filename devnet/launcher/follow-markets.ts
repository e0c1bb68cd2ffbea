import { openRegister } from '../../runtime/bus/market-register.js'
import { busEnv, busPlace } from '../../runtime/bus/nats-access.js'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'
import { parseEnv } from '../../runtime/process/config.js'
import type { RunningProcess } from '../../runtime/process/process.js'

export interface FollowMarketsOptions {
  /** The settings of the process that starts matchers. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called with each registered market, with some again when their texts change. */
  readonly onMarket: (market: string) => void | Promise<void>
  readonly onError: (error: unknown) => void
}

/** Follows the register of markets in the background, from the first market on. */
export function followMarkets({ env, onMarket, onError }: FollowMarketsOptions): RunningProcess {
  let stopped = false
  const parts: (() => Promise<void>)[] = []
  const failed = (error: unknown): void => {
    if (!stopped) onError(error)
  }
  const follow = async (): Promise<void> => {
    const place = busPlace(parseEnv(busEnv, env))
    const bus = await connectNatsBus({ ...place, name: 'launcher', user: 'matcher' })
    parts.unshift(() => bus.close())
    if (stopped) return bus.close()
    const register = await openRegister({ bus, log: { info: () => undefined }, onError: failed })
    parts.unshift(() => register.stop())
    for (const { market } of register.markets) await onMarket(market)
    register.watch(({ market: { market } }) => onMarket(market))
  }
  follow().catch(failed)
  return {
    async stop() {
      stopped = true
      for (const stop of parts) await stop()
    },
  }
}
