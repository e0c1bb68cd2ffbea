import type { Claim } from '../../core/contracts/claims.js'
import type { SolvencyReads } from './registry.js'

/** Whether what is available covers the claims. */
export async function covers(
  { readCapacities }: Pick<SolvencyReads, 'readCapacities'>,
  claims: readonly Claim[],
): Promise<boolean> {
  const capacities = await readCapacities(claims.map(({ key }) => key))
  return claims.every(({ debit }, i) => (capacities[i] ?? 0n) >= debit)
}
