import { encodeFunctionData, maxUint256, parseAbi } from 'viem'
import type { Address } from '../../core/action.js'
import { perform, type Trader } from './devnet-world.js'
import type { FuturesWorld } from './futures-world.js'

/** Any key may put tokens into an account: here a trader does, out of its wallet; in the token's 6 decimals. */
async function deposit(
  world: FuturesWorld,
  from: Trader,
  { token, wrapped }: { readonly token: Address; readonly wrapped: Address },
  ...[accountId, units]: readonly [bigint, bigint]
): Promise<void> {
  const { DevCngn, WrappedERC20Asset } = world.artifacts
  const approve = encodeFunctionData({
    abi: DevCngn.abi,
    functionName: 'approve',
    args: [wrapped, units],
  })
  await perform(world, { from: from.address, to: token, data: approve })
  const data = encodeFunctionData({
    abi: WrappedERC20Asset.abi,
    functionName: 'deposit',
    args: [accountId, units],
  })
  await perform(world, { from: from.address, to: wrapped, data })
}

export const depositUsdc = (world: FuturesWorld, from: Trader, id: bigint, units: bigint) =>
  deposit(world, from, { token: world.at.usdc, wrapped: world.at.wrapped_usdc }, id, units)

export const depositCngn = (world: FuturesWorld, from: Trader, id: bigint, units: bigint) =>
  deposit(world, from, { token: world.at.cngn, wrapped: world.at.wrapped_cngn }, id, units)

/** Mints a trader more of both tokens than a test gives away, and lets it put them into any account. */
export async function fund(world: FuturesWorld, { address: from }: Trader): Promise<void> {
  const abi = parseAbi([
    'function mint(address to, uint256 amount)',
    'function approve(address spender, uint256 amount)',
  ])
  const { usdc, cngn, wrapped_usdc, wrapped_cngn, deployer } = world.at
  for (const [token, wrapped] of [
    [usdc, wrapped_usdc],
    [cngn, wrapped_cngn],
  ] as const) {
    const mint = { abi, functionName: 'mint', args: [from, 10n ** 24n] } as const
    await perform(world, { from: deployer, to: token, data: encodeFunctionData(mint) })
    const approve = { abi, functionName: 'approve', args: [wrapped, maxUint256] } as const
    await perform(world, { from, to: token, data: encodeFunctionData(approve) })
  }
}
