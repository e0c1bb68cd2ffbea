import type { GasStanding } from '../../core/transfer.js'
import type { Metrics } from '../../runtime/metrics/metrics.js'

/** Reads at each scrape the funds of the submitter's wallet; the balance is absent while the chain does not answer. */
export function sampleWallet(
  metrics: Metrics,
  wallet: string,
  standing: () => Promise<GasStanding>,
): void {
  metrics.sample('venue_gas_balance_wei', async () => {
    const { balanceWei } = await standing()
    return balanceWei === undefined ? [] : [[{ wallet }, Number(balanceWei)]]
  })
  metrics.sample('venue_gas_reserve_wei', async () => [
    [{ wallet }, Number((await standing()).reserveWei)],
  ])
  metrics.sample('venue_gas_paused', async () => [
    [{ wallet }, (await standing()).paused === undefined ? 0 : 1],
  ])
}
