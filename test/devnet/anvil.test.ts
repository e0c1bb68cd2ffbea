import { spawn } from 'node:child_process'
import { expect } from 'chai'
import { ANVIL_CHAIN_ID, startAnvil } from '../support/anvil.js'

async function answers(rpcUrl: string): Promise<boolean> {
  try {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(rpcUrl, { method: 'POST', headers, body })).ok
  } catch {
    return false
  }
}

async function untilSilent(rpcUrl: string): Promise<void> {
  while (await answers(rpcUrl)) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe('the chain that tests run', () => {
  it('answers with its chain id and block gas, and is gone once stopped', async () => {
    const anvil = await startAnvil()
    expect(await anvil.client.getChainId()).to.equal(ANVIL_CHAIN_ID)
    expect((await anvil.client.getBlock()).gasLimit).to.equal(240_000_000n)
    await anvil.stop()
    expect(await answers(anvil.rpcUrl)).to.equal(false)
  })

  it('does not outlive a process that is killed', async () => {
    const module = new URL('../support/anvil.js', import.meta.url).href
    const script = `import { startAnvil } from '${module}'
      const anvil = await startAnvil()
      console.log(anvil.rpcUrl)
      setInterval(() => {}, 1000)`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const rpcUrl = await new Promise<string>((resolve) => {
      parent.stdout.once('data', (line: Buffer) => {
        resolve(line.toString().trim())
      })
    })
    expect(await answers(rpcUrl)).to.equal(true)
    parent.kill('SIGKILL')
    await untilSilent(rpcUrl)
    expect(await answers(rpcUrl)).to.equal(false)
  })
})
