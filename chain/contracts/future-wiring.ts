import type { Address, Hex } from '../../core/action.js'
import type { Market } from '../../core/contracts/market.js'
import { addressOfWord } from '../../core/entry/read-action.js'
import { futuresManagerAbi, futureTradeModuleAbi, tradeModuleAbi } from '../abi/contracts.js'
import { NotWords, undefinedOnRevert } from '../abi/errors.js'
import type { BlockCalls } from './registry.js'
import { selectorsOf } from '../abi/selectors.js'

const ofModule = {
  ...selectorsOf(futureTradeModuleAbi, 'futureAsset', 'manager'),
  ...selectorsOf(tradeModuleAbi, 'quoteAsset'),
}
const ofManager = selectorsOf(futuresManagerAbi, 'futureAsset', 'wrappedUsdc')

/** What of trade module and manager is not as the market's row says; undefined when all is. Rejects unless the node answers. */
export async function readFutureWiring(
  { tradeModuleAddress, marginManagerAddress, assetAddress, quoteAssetAddress }: Market,
  { word }: BlockCalls,
): Promise<string | undefined> {
  const module = ['trade module', tradeModuleAddress] as const
  const manager = ['margin manager', marginManagerAddress] as const
  const wires = [
    [module, ofModule.futureAsset, 'trades', assetAddress],
    [module, ofModule.manager, 'books at', marginManagerAddress],
    [module, ofModule.quoteAsset, 'charges fees in', quoteAssetAddress],
    [manager, ofManager.futureAsset, 'margins', assetAddress],
    [manager, ofManager.wrappedUsdc, 'counts as USDC', quoteAssetAddress],
  ] as const
  const found = await Promise.all(wires.map(([[, at], selector]) => addressAt(word, at, selector)))
  for (const [i, [[name, at], , does, wanted]] of wires.entries()) {
    if (found[i] !== wanted) return `${name} ${at} ${does} ${found[i] ?? 'nothing'}, not ${wanted}`
  }
  return undefined
}

/** Undefined from a contract that lacks the function: it reverts, or answers nothing. */
async function addressAt(
  word: BlockCalls['word'],
  at: Address,
  selector: Hex,
): Promise<Address | undefined> {
  const answer = await word(at, selector, []).catch((error: unknown) =>
    error instanceof NotWords ? undefined : undefinedOnRevert(error),
  )
  return answer === undefined ? undefined : addressOfWord(answer)
}
