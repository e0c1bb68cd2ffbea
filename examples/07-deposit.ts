/** Opens a perp margin account with 25 USDC from the wallet: two signatures, no gas, no approval beforehand. */
import { createPublicClient, http, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createTransferClient, randomNonce, signDeposit, signPermit } from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const AMOUNT = '25'
const FIVE_MINUTES = 300

const devnet = await readDevnet(process.argv[2])
const signer = privateKeyToAccount(accountOf(devnet).private_key)
const venue = createTransferClient(devnet.gateway_url)
const expirySec = Math.floor(Date.now() / 1_000) + FIVE_MINUTES

// The permit lets the deposit module take the USDC; the venue sends it first when it is needed.
const chain = createPublicClient({ transport: http(devnet.rpc_url) })
const tokenNonce = await chain.readContract({
  address: devnet.usdc,
  abi: parseAbi(['function nonces(address owner) view returns (uint256)']),
  functionName: 'nonces',
  args: [signer.address],
})
const permit = await signPermit(signer, {
  chainId: devnet.chain_id,
  usdc: devnet.usdc,
  depositModule: devnet.deposit_module,
  amount: AMOUNT,
  tokenNonce,
  deadlineSec: expirySec,
})

const body = await signDeposit(
  signer,
  { chainId: devnet.chain_id, matching: devnet.matching },
  {
    depositModule: devnet.deposit_module,
    cashAsset: devnet.cash_asset,
    perpManager: devnet.perp_manager,
    amount: AMOUNT,
    nonce: randomNonce(),
    expirySec,
    permit,
  },
)
const { action_hash } = await venue.deposit(body)
const deposit = await venue.settledDeposit(action_hash)
console.log(`${deposit.amount_usdc} USDC ${deposit.status} in ${deposit.tx_hash}`)
console.log(`trade from account ${deposit.subaccount_id}`)

// The same signed request again is the same deposit, never a second one.
const again = await venue.deposit(body)
console.log(`sent again: still ${again.tx_hash}`)
