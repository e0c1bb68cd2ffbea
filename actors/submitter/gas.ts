import type { GasFacts, GasReader } from '../../chain/read-gas.js'
import type { Address } from '../../core/action.js'
import type { GasPause, GasStanding } from '../../core/transfer.js'
import type { GasSpent } from '../../data/request-counts.js'
import { within } from './within.js'

export interface GasDeps {
  readonly address: Address
  readonly readGas: GasReader
  readonly spent: GasSpent
  /** What open transactions may still cost, in wei. */
  readonly reservedWei: () => bigint
  /** Nothing is submitted that could take the wallet below this. */
  readonly reserveWei: bigint
  /** Most gas of one hour, in flight or paid. */
  readonly hourBudgetWei: bigint
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** The wallet that pays for transfers, and how much of it an hour may cost. */
export interface GasWallet {
  /** What a transaction may bid; rejects with ChainUnreachable. */
  readonly read: GasReader
  /** Why a transaction that may cost so much, in wei, cannot be paid now; asked again right before it is signed. */
  pauseFor(costWei: bigint, facts: GasFacts): GasPause | undefined
  /** What was paid, by a transaction's receipt. */
  readonly paid: (txHash: string, costWei: bigint) => void
  /** Never rejects and is never late: without an answer of the chain the balance is absent. */
  readonly standing: () => Promise<GasStanding>
}

/** A chain that hangs may not make the whole standing late: whoever asks for it does not wait long. */
const BALANCE_WAIT_MS = 500

export function createGasWallet(deps: GasDeps): GasWallet {
  const { address, readGas, spent, reservedWei, reserveWei, hourBudgetWei, nowMs } = deps
  /** What is in flight counts with all that it may cost. */
  const hourSpentWei = (): bigint => spent.withinHour(nowMs()) + reservedWei()

  function pauseFor(costWei: bigint, { balance }: GasFacts): GasPause | undefined {
    if (balance - reservedWei() - costWei < reserveWei) return 'gas_reserve'
    return hourSpentWei() + costWei > hourBudgetWei ? 'gas_budget' : undefined
  }

  return {
    read: readGas,
    pauseFor,
    paid: (txHash, costWei) => spent.record(txHash, costWei, nowMs()),
    async standing() {
      const balance = readGas().catch(() => undefined)
      const facts = await within(BALANCE_WAIT_MS, balance)
      const paused = facts === undefined ? undefined : pauseFor(1n, facts)
      return {
        ...{ signer: address, reserveWei, hourBudgetWei, hourSpentWei: hourSpentWei() },
        ...(facts !== undefined && { balanceWei: facts.balance }),
        ...(paused !== undefined && { paused }),
      }
    },
  }
}
