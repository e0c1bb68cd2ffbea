/** What a transaction may bid at most, in wei. */
export interface FeeCaps {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Nodes replace a transaction of their pool for one that bids at least a tenth more; an eighth leaves room. */
const RAISE = { numerator: 9n, denominator: 8n }

/**
 * Bids for a transaction that takes the place of another at its nonce: both at least an eighth higher, rounded up, and at
 * least the suggested ones. Undefined when one of them would exceed `multiple` times what is suggested.
 */
export function raiseFees(
  before: FeeCaps,
  suggested: FeeCaps,
  multiple: bigint,
): FeeCaps | undefined {
  const maxFeePerGas = raised(before.maxFeePerGas, suggested.maxFeePerGas)
  const tip = raised(before.maxPriorityFeePerGas, suggested.maxPriorityFeePerGas)
  const tooDear =
    maxFeePerGas > multiple * suggested.maxFeePerGas ||
    tip > multiple * suggested.maxPriorityFeePerGas
  return tooDear ? undefined : { maxFeePerGas, maxPriorityFeePerGas: tip }
}

function raised(before: bigint, suggested: bigint): bigint {
  const { numerator, denominator } = RAISE
  const higher = (before * numerator + denominator - 1n) / denominator
  return higher > suggested ? higher : suggested
}
