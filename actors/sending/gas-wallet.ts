import { undefinedOnFailure } from '../../chain/reads/read-failure.js'
import type { GasFacts, GasReader } from '../../chain/sender/gas.js'
import type { Address } from '../../core/action.js'
import type { GasPause, GasStanding } from '../../core/transfer.js'
import type { GasSpent } from '../../data/gas-spent.js'
import { within } from '../../runtime/process/within.js'

interface GasDeps {
  readonly address: Address
  readonly readGas: GasReader
  readonly spent: GasSpent
  /** Most that the wallet's open transactions may still cost, in wei. */
  readonly reservedWei: () => bigint
  /** The same of every key of this hour. */
  readonly inFlightWei: () => bigint
  /** Nothing is submitted that could take the wallet's balance below this. */
  readonly reserveWei: bigint
  /** Most gas of one hour, paid or in flight. */
  readonly hourBudgetWei: bigint
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** The wallet that pays for a sender's transactions, with its reserve and its hourly budget. */
export interface GasWallet {
  /** Current gas prices and the balance; rejects with ChainUnreachable. */
  readonly read: GasReader
  /**
   * Why a transaction that may cost `costWei` cannot be paid now, where it has to leave `keptWei` of the hour's budget, by
   * default nothing. Ask again right before it is signed.
   */
  pauseFor(costWei: bigint, facts: GasFacts, keptWei?: bigint): GasPause | undefined
  /** Books the cost of a mined transaction. */
  readonly paid: (txHash: string, costWei: bigint) => void
  /** Never rejects; without an answer of the chain within BALANCE_WAIT_MS the balance is absent. */
  readonly standing: () => Promise<GasStanding>
}

const BALANCE_WAIT_MS = 500

export function createGasWallet(deps: GasDeps): GasWallet {
  const { address, readGas, spent, reservedWei, inFlightWei } = deps
  const { reserveWei, hourBudgetWei, nowMs } = deps
  /** Transactions in flight count with their highest cost. */
  const hourSpentWei = (): bigint => spent.withinHour(nowMs()) + inFlightWei()

  function pauseFor(costWei: bigint, { balance }: GasFacts, keptWei = 0n): GasPause | undefined {
    if (balance - reservedWei() - costWei < reserveWei) return 'gas_reserve'
    return hourSpentWei() + costWei + keptWei > hourBudgetWei ? 'gas_budget' : undefined
  }

  return {
    read: readGas,
    pauseFor,
    paid: (txHash, costWei) => spent.record(txHash, costWei, nowMs()),
    async standing() {
      const balance = readGas().catch(undefinedOnFailure)
      const facts = await within(balance, BALANCE_WAIT_MS)
      const paused = facts === undefined ? undefined : pauseFor(1n, facts)
      return {
        signer: address,
        reserveWei,
        hourBudgetWei,
        hourSpentWei: hourSpentWei(),
        ...(facts !== undefined && { balanceWei: facts.balance }),
        ...(paused !== undefined && { paused }),
      }
    },
  }
}
