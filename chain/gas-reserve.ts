import type { GasFacts } from './read-gas.js'
import type { Tracking } from './tracking.js'

/** In wei, or the cost of so many transactions of so much gas at what the newest block makes a transaction bid. */
export type GasReserve =
  { readonly wei: bigint } | { readonly transactions: bigint; readonly gasEach: bigint }

export const NO_RESERVE: GasReserve = { wei: 0n }

/** Gas money to be left alone at the present fees, in wei. */
export function reserveWei(reserve: GasReserve, { maxFeePerGas }: GasFacts): bigint {
  return 'wei' in reserve ? reserve.wei : reserve.transactions * reserve.gasEach * maxFeePerGas
}

/** Tells when the key comes to hold less than its reserve, and when it holds enough again. */
export async function watchGas(tracking: Tracking): Promise<void> {
  const { chain, reserve, facts } = tracking
  if ('wei' in reserve && reserve.wei === 0n) return
  const gas = await chain.gas()
  const needed = reserveWei(reserve, gas)
  const low = gas.balance < needed
  if (low && !tracking.gasLow) facts.gasLow(gas.balance, needed)
  if (!low && tracking.gasLow) facts.gasBack()
  tracking.gasLow = low
}
