import { expect } from 'chai'
import { join } from 'node:path'
import { transferText } from '../../bus-schemas/transfers.js'
import { openStoresReader } from '../../data/inspect-stores.js'
import { JOURNAL_MIGRATIONS } from '../../data/journal/journal-file.js'
import { openDatabase } from '../../data/open.js'
import { TRANSFER_MIGRATIONS } from '../../data/transfer-store.js'
import { tempDir } from '../support/temp-dir.js'
import { anUnsentTransfer } from '../support/transfer-bodies.js'

const HASH = `0x${'ab'.repeat(32)}`

describe('what an operator reads of the databases', () => {
  const dir = tempDir()
  before(() => {
    const open = (file: string, migrations: URL) =>
      openDatabase({ path: join(dir.path, file), migrations, synchronous: 'NORMAL' })
    const journal = open('executor.db', JOURNAL_MIGRATIONS)
    const intent = journal.prepare('INSERT INTO intents VALUES (?, ?, NULL, 0)')
    for (const id of ['M:6', 'M:16', 'M:6 life 2', `deposit:${HASH}`])
      intent.run(id, Buffer.alloc(32))
    journal.close()
    const transfers = open('deposits.db', TRANSFER_MIGRATIONS)
    const transfer = transfers.prepare(
      `INSERT INTO transfers (action_hash, owner, status, in_progress, record, request)
       VALUES (?, ?, 'confirmed', 0, ?, ?)`,
    )
    const request = (nonce: string, amount: string) => JSON.stringify({ action: { nonce, amount } })
    const record = transferText.write(anUnsentTransfer())
    transfer.run(Buffer.alloc(32, 1), Buffer.alloc(20), record, request('6', '7'))
    transfer.run(Buffer.alloc(32, 2), Buffer.alloc(20), record, request('7', '6'))
    transfers.close()
  })

  const read = <Found>(look: (stores: ReturnType<typeof openStoresReader>) => Found): Found => {
    const stores = openStoresReader(dir.path)
    try {
      return look(stores)
    } finally {
      stores.close()
    }
  }
  const intentIds = (subject: string) =>
    read((stores) => stores.intents(subject).map(({ intentId }) => intentId))

  it('is the intent of that id with its later lives, and none whose id only ends alike', () => {
    expect(intentIds('M:6')).to.deep.equal(['M:6', 'M:6 life 2'])
    for (const subject of ['6', '%', 'M:_', ''])
      expect(intentIds(subject), subject).to.deep.equal([])
  })

  it('is the intent of an action hash', () => {
    expect(intentIds(HASH)).to.deep.equal([`deposit:${HASH}`])
  })

  it('is the transfer with that nonce, whatever else has the same digits', () => {
    expect(read((stores) => stores.transfers('6'))).to.have.length(1)
    expect(read((stores) => stores.transfers('8'))).to.deep.equal([])
  })

  it('is nothing where there are no databases', () => {
    const stores = openStoresReader(join(dir.path, 'none'))
    expect([stores.intents('M:6'), stores.transfers('6'), stores.trades('M:6')]).to.deep.equal([
      ...[[], [], []],
    ])
    stores.close()
  })
})
