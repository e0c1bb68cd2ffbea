import { encodeFunctionData } from 'viem'
import { erc20Abi } from '../../chain/abi/erc20.js'
import { wrappedErc20AssetAbi } from '../../chain/abi/wrapped-erc20-asset.js'
import { newAccount, perform } from './devnet-world.js'
import type { Trader, World } from './devnet-world.js'

/** One more account of the trader, held by Matching, with so many millionths of a USDC in it. */
export async function accountWithUsdc(
  world: World,
  trader: Trader,
  amount: bigint,
): Promise<bigint> {
  const accountId = await newAccount(world, trader)
  if (amount === 0n) return accountId
  const { usdc, wrapped_usdc: asset } = world.at
  const approval = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [asset, amount],
  })
  await perform(world, { from: trader.address, to: usdc, data: approval })
  const deposit = encodeFunctionData({
    abi: wrappedErc20AssetAbi,
    functionName: 'deposit',
    args: [accountId, amount],
  })
  await perform(world, { from: trader.address, to: asset, data: deposit })
  return accountId
}
