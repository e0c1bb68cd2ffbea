/** Pays 5 USDC of the spot account out to its owner's wallet. */
import { privateKeyToAccount } from 'viem/accounts'
import { createTransferClient, randomNonce, signWithdrawal } from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const FIVE_MINUTES = 300

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const venue = createTransferClient(devnet.gateway_url)

const body = await signWithdrawal(
  privateKeyToAccount(account.private_key),
  { chainId: devnet.chain_id, matching: devnet.matching },
  {
    withdrawalModule: devnet.withdrawal_module,
    // What the account holds; it pays out as USDC.
    asset: devnet.wrapped_usdc,
    subaccountId: account.spot_subaccount_id,
    amount: '5',
    nonce: randomNonce(),
    expirySec: Math.floor(Date.now() / 1_000) + FIVE_MINUTES,
  },
)
const { action_hash } = await venue.withdraw(body)
const withdrawal = await venue.settledWithdrawal(action_hash)
console.log(`${withdrawal.amount} USDC ${withdrawal.status} in ${withdrawal.tx_hash}`)
