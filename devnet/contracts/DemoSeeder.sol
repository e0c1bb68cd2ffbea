// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {DevSeeder} from "./DevSeeder.sol";
import {IMatching, ISubAccounts} from "./interfaces.sol";

/// Gives accounts with play money on a development chain: once to an address, to a bounded number of them. The bounds stand
/// here, so that they outlive the process that sends the transactions.
contract DemoSeeder is DevSeeder {
    struct Accounts {
        uint256 trading;
        uint256 margin;
    }

    error AlreadyGiven();
    error AllGiven();

    uint256 public constant MOST = 1000;
    uint256 public given;
    mapping(address owner => Accounts) public accountsOf;

    constructor(IMatching matching_, ISubAccounts subAccounts_) DevSeeder(matching_, subAccounts_) {}

    /// Opens a trading and a margin account for an owner, and gives it the sent ether and tokens in the wallet.
    function give(
        address payable owner,
        address tradingManager,
        Endowment[] calldata trading,
        address marginManager,
        Endowment[] calldata margin,
        Endowment[] calldata wallet
    ) external payable onlyOwner {
        if (accountsOf[owner].trading != 0) revert AlreadyGiven();
        if (given == MOST) revert AllGiven();
        given += 1;
        accountsOf[owner] = Accounts(open(owner, tradingManager, trading), open(owner, marginManager, margin));
        for (uint256 i = 0; i < wallet.length; i++) {
            wallet[i].token.mint(owner, wallet[i].amount);
        }
        Address.sendValue(owner, msg.value);
    }
}
