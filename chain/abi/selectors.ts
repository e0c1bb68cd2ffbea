import { toFunctionSelector, type Abi, type ContractFunctionName } from 'viem'
import type { Hex } from '../../core/action.js'

/** The selectors of functions by their names; a name that is not in the ABI does not compile. */
export const selectorsOf = <const A extends Abi, Name extends ContractFunctionName<A>>(
  abi: A,
  ...names: readonly Name[]
): Readonly<Record<Name, Hex>> => {
  const functions = abi.filter((item) => item.type === 'function')
  const selectors = functions.map((item) => [item.name, toFunctionSelector(item)] as const)
  return Object.fromEntries(
    selectors.filter(([name]) => (names as readonly string[]).includes(name)),
  ) as Record<Name, Hex>
}
