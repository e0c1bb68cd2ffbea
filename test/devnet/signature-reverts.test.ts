import { concat, encodeFunctionData, numberToHex, parseSignature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { matchingAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import {
  matchCall,
  ONE,
  signOrder,
  type ActionOverrides,
  type SignedOrder,
} from '../support/devnet-actions.js'
import {
  lower,
  perform,
  receiptOf,
  testKey,
  type Call,
  type World,
} from '../support/devnet-world.js'
import { describeOutcomes, type Row } from './revert-table.js'

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const COOLDOWN_SEC = 600
const HOUR_SEC = 3600n

const key = privateKeyToAccount(testKey(77))
const KEY = lower(key.address)
const WALLET: Address = '0x00000000000000000000000000000000000c0de1'

/** Runtime code that answers every call with the ERC-1271 magic value. */
const SAYS_VALID: Hex = `0x7f1626ba7e${'00'.repeat(28)}60005260206000f3`
/** Runtime code that answers every call with a word of zero. */
const SAYS_ZERO: Hex = '0x60206000f3'
/** Runtime code that accepts every call and answers nothing, as a contract without the method may. */
const SAYS_NOTHING: Hex = '0x00'

/** Bob buys from Alice, whose action and signature differ. */
async function match(
  world: World,
  ask: ActionOverrides,
  respell: (signature: Hex) => Hex = (signature) => signature,
): Promise<Call> {
  const taker = await signOrder(world, world.bob, { isBid: true })
  const order = await signOrder(world, world.alice, { isBid: false, desiredAmount: ONE }, ask)
  const maker: SignedOrder = { ...order, signature: respell(order.signature) }
  return matchCall(world, { taker, fills: [{ maker }] })
}

function respelled(respell: (r: Hex, s: bigint, yParity: bigint) => Hex): Row[2] {
  return (world) =>
    match(world, {}, (signature) => {
      const { r, s, yParity } = parseSignature(signature)
      return respell(r, BigInt(s), BigInt(yParity))
    })
}

const word = (value: bigint) => numberToHex(value, { size: 32 })
const byte = (value: bigint) => numberToHex(value, { size: 1 })

const spellings: readonly Row[] = [
  ['v of 27 or 28', 'success', respelled((r, s, y) => concat([r, word(s), byte(y + 27n)]))],
  ['v of 0 or 1', 'OV_InvalidSignature', respelled((r, s, y) => concat([r, word(s), byte(y)]))],
  [
    'the compact form of 64 bytes',
    'OV_InvalidSignature',
    respelled((r, s, y) => concat([r, word((y << 255n) | s)])),
  ],
  [
    'the twin with a high s',
    'OV_InvalidSignature',
    respelled((r, s, y) => concat([r, word(CURVE_ORDER - s), byte(28n - y)])),
  ],
  ['no bytes at all', 'OV_InvalidSignature', respelled(() => '0x')],
]

function registration(world: World, signer: Address, expiry: bigint): Call {
  const args = [signer, expiry] as const
  const data = encodeFunctionData({ abi: matchingAbi, functionName: 'registerSessionKey', args })
  return { from: world.alice.address, to: world.at.matching, data }
}

function deregistration(world: World): Call {
  const args = [KEY] as const
  const data = encodeFunctionData({ abi: matchingAbi, functionName: 'deregisterSessionKey', args })
  return { from: world.alice.address, to: world.at.matching, data }
}

/** Registers a key of Alice that is good for so many more seconds. */
async function register(world: World, signer: Address, seconds = HOUR_SEC): Promise<bigint> {
  const expiry = (await world.client.getBlock()).timestamp + seconds
  await perform(world, registration(world, signer, expiry))
  return expiry
}

async function pass(world: World, seconds: number): Promise<void> {
  await world.client.increaseTime({ seconds })
  await world.client.mine({ blocks: 1 })
}

const byKey: ActionOverrides = { signer: KEY, signedBy: key }

const sessionKeys: readonly Row[] = [
  [
    'a key that was never registered',
    'OV_SignerNotOwnerOrSessionKeyExpired',
    (world) => match(world, byKey),
  ],
  [
    'a registered key',
    'success',
    async (world) => {
      await register(world, KEY)
      return match(world, byKey)
    },
  ],
  [
    'a registered key that another key signed for',
    'OV_InvalidSignature',
    async (world) => {
      await register(world, KEY)
      return match(world, { signer: KEY, signedBy: world.alice.account })
    },
  ],
  [
    'an expired key',
    'OV_SignerNotOwnerOrSessionKeyExpired',
    async (world) => {
      await register(world, KEY, 60n)
      await pass(world, 120)
      return match(world, byKey)
    },
  ],
  [
    'registering a key with an earlier expiry',
    'OV_NeedDeregister',
    async (world) => {
      const expiry = await register(world, KEY)
      return registration(world, KEY, expiry - 1n)
    },
  ],
  [
    'a deregistered key within the cooldown',
    'success',
    async (world) => {
      await register(world, KEY)
      await perform(world, deregistration(world))
      await pass(world, COOLDOWN_SEC - 60)
      return match(world, byKey)
    },
  ],
  [
    'a deregistered key after the cooldown',
    'OV_SignerNotOwnerOrSessionKeyExpired',
    async (world) => {
      await register(world, KEY)
      await perform(world, deregistration(world))
      await pass(world, COOLDOWN_SEC + 1)
      return match(world, byKey)
    },
  ],
  [
    'a key whose few seconds were extended by deregistering it',
    'success',
    async (world) => {
      await register(world, KEY, 60n)
      await perform(world, deregistration(world))
      await pass(world, 120)
      return match(world, byKey)
    },
  ],
  ['deregistering an expired key', 'OV_SessionKeyInvalid', (world) => deregistration(world)],
]

/** A signature by a contract that Alice registered as her key. */
async function byWallet(world: World, bytecode: Hex): Promise<Call> {
  await register(world, WALLET)
  await world.client.setCode({ address: WALLET, bytecode })
  return match(world, { signer: WALLET, signedBy: key })
}

/** A correct ECDSA signature by a key of Alice that has delegated its account to code. */
async function byDelegated(world: World, bytecode: Hex): Promise<Call> {
  const { client } = world
  await register(world, KEY)
  await client.setCode({ address: WALLET, bytecode })
  await client.setBalance({ address: KEY, value: ONE })
  const authorization = await client.signAuthorization({
    account: key,
    contractAddress: WALLET,
    executor: 'self',
  })
  const hash = await client.sendTransaction({
    account: key,
    to: WALLET,
    authorizationList: [authorization],
  })
  await receiptOf(world, hash)
  return match(world, byKey)
}

const contractWallets: readonly Row[] = [
  ['a wallet that accepts', 'success', (world) => byWallet(world, SAYS_VALID)],
  ['a wallet that refuses', 'OV_InvalidSignature', (world) => byWallet(world, SAYS_ZERO)],
  [
    'a contract without isValidSignature',
    'OV_InvalidSignature',
    (world) => byWallet(world, SAYS_NOTHING),
  ],
  [
    'a key delegated to code without isValidSignature',
    'OV_InvalidSignature',
    (world) => byDelegated(world, SAYS_NOTHING),
  ],
  ['a key delegated to code that accepts', 'success', (world) => byDelegated(world, SAYS_VALID)],
]

describeOutcomes('the spelling of a signature', spellings)
describeOutcomes('session keys', sessionKeys)
describeOutcomes('contracts as signers', contractWallets)
