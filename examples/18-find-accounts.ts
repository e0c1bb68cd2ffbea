/** Finds the accounts of an owner, and with which of them the owner may trade which market; needs no signature. */
import { createRestClient } from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const devnet = await readDevnet(process.argv[2])
const { address } = accountOf(devnet)
const venue = createRestClient(devnet.gateway_url)

const { accounts, session_keys: keys, as_of_block: block } = await venue.accounts(address)
for (const { subaccount_id: id, markets } of accounts) {
  console.log(`account ${id} trades ${markets.join(', ')}`)
}
console.log(`${keys.length} session keys, as of block ${block}`)
