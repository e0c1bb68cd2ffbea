import type { GasStanding } from '../../core/transfer.js'
import type { Metrics } from '../../runtime/metrics/metrics.js'

/** Reads at each scrape the funds of a sender's wallet; the balance is absent while the chain does not answer. */
export function sampleWallet(
  metrics: Metrics,
  wallet: string,
  standing: () => Promise<GasStanding>,
): void {
  metrics.sample('venue_gas_balance_wei', async () => {
    const { signer: address, balanceWei } = await standing()
    return balanceWei === undefined ? [] : [[{ wallet, address }, Number(balanceWei)]]
  })
  metrics.sample('venue_gas_reserve_wei', async () => {
    const { signer: address, reserveWei } = await standing()
    return [[{ wallet, address }, Number(reserveWei)]]
  })
  metrics.sample('venue_gas_paused', async () => {
    const { signer: address, paused } = await standing()
    return [[{ wallet, address }, paused === undefined ? 0 : 1]]
  })
}
