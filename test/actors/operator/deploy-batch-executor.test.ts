import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { getContractAddress } from 'viem'
import { deployBatchExecutor } from '../../../actors/operator/deploy-batch-executor.js'
import { NotCreated } from '../../../chain/contracts/create-contract.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { openKeyFile } from '../../../chain/signing/key-file.js'
import type { Address } from '../../../core/action.js'
import { testKey } from '../../support/devnet-world.js'
import { deploymentFile } from '../../support/deployment-file.js'
import { tempDir } from '../../support/temp-dir.js'

const CHAIN_ID = 8453
const HASH = `0x${'ab'.repeat(32)}`
const EXECUTOR = `0x${'ee'.repeat(20)}`
/** A node that mines whatever it is sent, and reads nothing of a contract. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  eth_chainId: `0x${CHAIN_ID.toString(16)}`,
  eth_getCode: '0x01',
  eth_estimateGas: '0xb0000',
  eth_maxPriorityFeePerGas: '0x1',
  eth_getTransactionCount: '0x3',
  eth_sendRawTransaction: HASH,
  eth_getBlockByNumber: {
    baseFeePerGas: '0x1',
    number: '0x1',
    timestamp: '0x1',
    hash: HASH,
    parentHash: HASH,
    transactions: [],
  },
  eth_getTransactionReceipt: { transactionHash: HASH, status: '0x1', blockNumber: '0x1', logs: [] },
}

/** Answered with the error of a node that is asked too much. */
const LIMITED = Symbol('limited')

describe('./venue deploy batch-executor that breaks off', () => {
  /** How a deployment ends on a node with these answers; a method without one is answered as an error. */
  async function endsOn(
    answers: Readonly<Record<string, unknown>>,
    silentAbout?: string,
  ): Promise<{ readonly failure: unknown; readonly from: Address; readonly file: string }> {
    const dir = tempDir()
    const node = createServer((request, response) => {
      void json(request).then((given) => {
        const asked = given as { id: number; method: string }[]
        if (asked.some(({ method }) => method === silentAbout)) request.socket.destroy()
        else response.end(JSON.stringify(asked.map(answerOf)))
      })
    })
    const answerOf = ({ id, method }: { readonly id: number; readonly method: string }) => {
      const result = answers[method]
      const error =
        result === LIMITED
          ? { code: -32_005, message: 'request rate limited' }
          : { code: -32_000, message: 'header not found' }
      return {
        jsonrpc: '2.0',
        id,
        ...(result === undefined || result === LIMITED ? { error } : { result }),
      }
    }
    try {
      await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
      const [keyFile, file] = [join(dir.path, 'key'), join(dir.path, 'deployment.json')]
      writeFileSync(keyFile, `${testKey(1)}\n`, { mode: 0o600 })
      writeFileSync(file, JSON.stringify(deploymentFile(CHAIN_ID)))
      const rpcUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
      const task = { contract: 'batch-executor', keyFile, executor: EXECUTOR } as const
      const failure = await deployBatchExecutor({ rpcUrl, deploymentFile: file }, task).catch(
        (error: unknown) => error,
      )
      const { address: from } = openKeyFile(keyFile, CHAIN_ID, { ownerUid: 'any' })
      return { failure, from, file }
    } finally {
      node.closeAllConnections()
      node.close()
      dir.remove()
    }
  }

  it('names the contract that it has created, so that the next attempt creates no other', async () => {
    const { failure, from, file } = await endsOn(ANSWERS)
    const made = getContractAddress({ from, nonce: 3n }).toLowerCase()
    expect(failure, String(failure)).to.be.instanceOf(NotCreated)
    expect((failure as Error).message).to.include(
      `no answer from the chain: batch executor; it is created at ${made}: write "batch_executor": "${made}" into ${file}`,
    )
  })

  it('distinguishes a node that does not answer from a chain that refuses', async () => {
    const silent = await endsOn(ANSWERS, 'eth_estimateGas')
    expect(silent.failure, String(silent.failure)).to.be.instanceOf(ChainUnreachable)
    // All questions are asked in one request; which of them is named is chance.
    expect((silent.failure as Error).message).to.match(/^no answer from the chain: /)
    const refusing = await endsOn({ ...ANSWERS, eth_estimateGas: undefined })
    expect(refusing.failure, String(refusing.failure)).to.be.instanceOf(NotCreated)
    expect((refusing.failure as Error).message).to.include('the chain refuses it')
    const limiting = await endsOn({ ...ANSWERS, eth_estimateGas: LIMITED })
    expect(limiting.failure, String(limiting.failure)).to.be.instanceOf(ChainUnreachable)
    expect((limiting.failure as Error).message).to.equal(
      'no answer from the chain: gas (the node limits how much it is asked)',
    )
  })
})
