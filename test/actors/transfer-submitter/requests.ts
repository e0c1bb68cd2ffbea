import { encodeAbiParameters } from 'viem'
import { erc20Abi } from '../../../chain/abi/contracts.js'
import type { Address, Hex } from '../../../core/action.js'
import { actionJson } from '../../../core/entry/signed-action.js'
import { ANVIL_CHAIN_ID } from '../../support/anvil.js'
import { signAction, type ActionOverrides } from '../../support/devnet-actions.js'
import type { Trader, World } from '../../support/devnet-world.js'
import { DEPOSIT_DATA, WITHDRAWAL_DATA } from '../../support/payloads.js'

const nowSec = (): bigint => BigInt(Math.floor(Date.now() / 1_000))

/** 10 USDC, the least that is taken. */
export const TEN = 10_000_000n

export interface SentPermit {
  readonly value: string
  readonly deadline: string
  readonly signature: Hex
}

/** The body of a request as JSON. */
export interface SentRequest {
  readonly action: Readonly<Record<string, string>>
  readonly signature: Hex
  readonly permit?: SentPermit
}

export interface DepositTerms {
  readonly amount?: bigint
  readonly asset?: Address
  readonly manager?: Address
  readonly permit?: SentPermit
}

/** By default a deposit of 10 USDC that opens an account; signed by the owner, good for ten minutes. */
export async function depositBody(
  world: World,
  owner: Trader,
  terms: DepositTerms = {},
  overrides: ActionOverrides = {},
): Promise<SentRequest> {
  const { amount = TEN, asset = world.at.cash_asset, manager = world.at.perp_manager } = terms
  const data = encodeAbiParameters(DEPOSIT_DATA, [{ amount, asset, managerForNewAccount: manager }])
  const { action, signature } = await signAction(world, owner, data, {
    subaccountId: 0n,
    module: world.at.deposit_module,
    expiry: nowSec() + 600n,
    ...overrides,
  })
  const body = { action: actionJson(action), signature }
  return terms.permit === undefined ? body : { ...body, permit: terms.permit }
}

/** A withdrawal out of the owner's account; signed by the owner, good for ten minutes. */
export async function withdrawalBody(
  world: World,
  owner: Trader,
  terms: { readonly asset: Address; readonly amount: bigint },
  overrides: ActionOverrides = {},
): Promise<SentRequest> {
  const { asset, amount: assetAmount } = terms
  const data = encodeAbiParameters(WITHDRAWAL_DATA, [{ asset, assetAmount }])
  const { action, signature } = await signAction(world, owner, data, {
    module: world.at.withdrawal_module,
    expiry: nowSec() + 600n,
    ...overrides,
  })
  return { action: actionJson(action), signature }
}

/** The owner's permit for the deposit module at the token's present nonce, good for an hour by default. */
export async function signPermit(
  world: World,
  owner: Trader,
  value: bigint,
  terms: { readonly deadline?: bigint; readonly spender?: Address } = {},
): Promise<SentPermit> {
  const { deadline = nowSec() + 3_600n, spender = world.at.deposit_module } = terms
  const token = { address: world.at.usdc, abi: erc20Abi } as const
  const nonce = await world.client.readContract({
    ...token,
    functionName: 'nonces',
    args: [owner.address],
  })
  const signature = await owner.account.signTypedData({
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: ANVIL_CHAIN_ID,
      verifyingContract: world.at.usdc,
    },
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message: { owner: owner.address, spender, value, nonce, deadline },
  })
  return { value: `${value}`, deadline: `${deadline}`, signature }
}

/** What a wallet holds of a token, in its units. */
export function walletOf(world: World, token: Address, owner: Address): Promise<bigint> {
  return world.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [owner],
  })
}
