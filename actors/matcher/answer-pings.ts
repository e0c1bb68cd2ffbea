import type { Bus, Subscription } from '../../bus-schemas/bus.js'
import { answerPing } from '../answer-ping.js'
import type { Matcher } from './matcher.js'

/**
 * Answers for the market's matcher. Several may run: one that stands by answers under a name of its own, and under the
 * common one too from when it leads, so that whoever asks how the market is asks the one that runs it.
 */
export async function answerPings(
  bus: Bus,
  { process, standby }: { readonly process: string; readonly standby: boolean },
  matcher: Matcher,
): Promise<Subscription> {
  const listen = (name: string) => answerPing(bus, name, () => matcher.standing())
  if (!standby) return listen(process)
  const own = await listen(`${process}-standby`)
  const common = matcher.whenLeading.then(() => listen(process))
  let leads: Subscription | undefined
  void common.then((subscription) => (leads = subscription))
  return {
    stop: async () => {
      await own.stop()
      await leads?.stop()
    },
  }
}
