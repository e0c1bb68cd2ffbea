import { expect } from 'chai'
import { decodeErrorResult, decodeFunctionData, encodeFunctionData } from 'viem'
import { matchingAbi } from '../../chain/abi/contracts.js'
import { errorsAbi } from '../../chain/abi/errors.js'
import type { TradeData } from '../../core/action.js'
import {
  matchCall,
  ONE,
  signOrder,
  type ActionOverrides,
  type Fill,
} from '../support/devnet-actions.js'
import {
  openAccount,
  openWorld,
  perform,
  revertOf,
  type Call,
  type World,
} from '../support/devnet-world.js'

const UNKNOWN_MODULE = '0x0000000000000000000000000000000000000999'
const LIMIT = 650_000_000_000_000n
const AMOUNT = 100n * ONE
/** A nonce that both traders have used for other data. */
const USED_NONCE = 7n

/** Everything that can be wrong with a match, in the order in which the chain must find it. */
const FAULTS = [
  ['caller', 'M_OnlyTradeExecutor'],
  ['module', 'M_OnlyAllowedModule'],
  ['signature count', 'M_ArrayLengthMismatch'],
  ['maker module', 'M_MismatchedModule'],
  ['expiry', 'OV_ActionExpired'],
  ['owner', 'OV_InvalidActionOwner'],
  ['signer', 'OV_SignerNotOwnerOrSessionKeyExpired'],
  ['signature', 'OV_InvalidSignature'],
  ['custody', 'ERC721InsufficientApproval'],
  ['taker nonce', 'TM_InvalidNonce'],
  ['taker account', 'TM_SignedAccountMismatch'],
  ['maker nonce', 'TM_InvalidNonce'],
  ['recipient', 'TM_InvalidRecipientId'],
  ['filled account', 'TM_SignedAccountMismatch'],
  ['side', 'TM_IsBidMismatch'],
  ['asset', 'TM_AssetMismatch'],
  ['sub id', 'TM_AssetSubIdMismatch'],
  ['maker fee', 'TM_FeeTooHigh'],
  ['maker price', 'TM_PriceTooLow'],
  ['maker amount', 'TM_FillLimitCrossed'],
  ['taker fee', 'TM_FeeTooHigh'],
  ['taker price', 'TM_PriceTooHigh'],
  ['taker amount', 'TM_FillLimitCrossed'],
  ['funds', 'WERC_CannotBeNegative'],
] as const

type Fault = (typeof FAULTS)[number][0]

/** Bob, the taker, buys from Alice, the maker, with all the given faults at once. */
async function faulty(world: World, has: (fault: Fault) => boolean, kept: bigint): Promise<Call> {
  const taker = await signOrder(world, world.bob, takerTrade(has), {
    ...(has('taker nonce') ? { nonce: USED_NONCE } : {}),
    ...(has('module') ? { module: UNKNOWN_MODULE } : {}),
  })
  const maker = await signOrder(
    world,
    world.alice,
    makerTrade(world, has),
    makerAction(world, has, kept),
  )
  const call = matchCall(world, {
    taker,
    fills: [{ maker, ...makerFill(world, has) }],
    takerFee: has('taker fee') ? ONE : 0n,
    ...(has('taker account') ? { takerAccount: world.carol.subaccountId } : {}),
  })
  const data = has('signature count') ? withOneSignatureMore(call) : call.data
  return { ...call, data, from: has('caller') ? world.carol.address : call.from }
}

function takerTrade(has: (fault: Fault) => boolean): Partial<TradeData> & { isBid: boolean } {
  return {
    isBid: true,
    limitPrice: has('taker price') ? LIMIT - 2n : LIMIT,
    desiredAmount: has('taker amount') ? AMOUNT - 1n : 10n ** 60n,
  }
}

function makerTrade(
  world: World,
  has: (fault: Fault) => boolean,
): Partial<TradeData> & { isBid: boolean } {
  return {
    isBid: has('side'),
    limitPrice: LIMIT - 1n,
    // The maker offers what it does not have only where no amount is wrong.
    desiredAmount: has('maker amount') ? AMOUNT - 1n : 10n ** 60n,
    ...(has('asset') ? { asset: world.at.cash_asset } : {}),
    ...(has('sub id') ? { subId: 7n } : {}),
    ...(has('recipient') ? { recipientId: 0n } : { recipientId: world.alice.subaccountId }),
  }
}

function makerAction(world: World, has: (fault: Fault) => boolean, kept: bigint): ActionOverrides {
  const owner = has('owner') ? world.carol.address : world.alice.address
  // An account without recorded owner belongs to whom it may concern, so custody fails only after the owner is right.
  const subaccountId = has('custody') && !has('owner') ? kept : world.alice.subaccountId
  return {
    owner,
    subaccountId,
    signer: has('signer') ? world.bob.address : owner,
    signedBy: has('signature') ? world.carol.account : world.alice.account,
    ...(has('expiry') ? { expiry: 1n } : {}),
    ...(has('maker module') ? { module: world.at.deposit_module } : {}),
    ...(has('maker nonce') ? { nonce: USED_NONCE } : {}),
  }
}

function makerFill(world: World, has: (fault: Fault) => boolean): Omit<Fill, 'maker'> {
  return {
    amount: has('funds') && !has('maker amount') && !has('taker amount') ? 10n ** 50n : AMOUNT,
    price: has('maker price') ? LIMIT - 2n : LIMIT - 1n,
    fee: has('maker fee') ? ONE : 0n,
    ...(has('filled account') ? { filledAccount: world.carol.subaccountId } : {}),
  }
}

function withOneSignatureMore(call: Call): Call['data'] {
  const decoded = decodeFunctionData({ abi: matchingAbi, data: call.data })
  if (decoded.functionName !== 'verifyAndMatch') throw new Error('not a match')
  const [actions, signatures, payload] = decoded.args
  const args = [actions, [...signatures, '0x'], payload] as const
  return encodeFunctionData({ abi: matchingAbi, functionName: 'verifyAndMatch', args })
}

describe('the order of the checks on chain', () => {
  let world: World
  let kept: bigint

  before(async () => {
    world = await openWorld()
    kept = await openAccount(world, world.alice.address, world.at.spot_manager)
    const nonce = { nonce: USED_NONCE }
    const taker = await signOrder(world, world.bob, { isBid: true, worstFee: 1n }, nonce)
    const maker = await signOrder(world, world.alice, { isBid: false, worstFee: 1n }, nonce)
    await perform(world, matchCall(world, { taker, fills: [{ maker }] }))
  })
  after(() => world.anvil.stop())

  FAULTS.forEach(([fault, error], i) => {
    it(`${fault} before all that follows: ${error}`, async () => {
      const left = new Set<Fault>(FAULTS.slice(i).map(([name]) => name))
      const data = await revertOf(world, await faulty(world, (name) => left.has(name), kept))
      if (data === 'none') throw new Error('the match succeeded')
      expect(decodeErrorResult({ abi: errorsAbi, data }).errorName).to.equal(error)
    })
  })

  it('a match without fault succeeds', async () => {
    expect(await revertOf(world, await faulty(world, () => false, kept))).to.equal('none')
  })
})
