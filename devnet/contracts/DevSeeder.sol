// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {IMatching, ISubAccounts, ITokenAsset} from "./interfaces.sol";
import {DevToken} from "./DevTokens.sol";

/// Onboards development accounts in one call each: gas money, tokens in the wallet, and tokens in a fresh account that
/// Matching holds for its owner.
contract DevSeeder is Ownable {
    struct Endowment {
        DevToken token;
        ITokenAsset asset;
        uint256 amount;
    }

    IMatching private immutable matching;
    ISubAccounts private immutable subAccounts;

    constructor(IMatching matching_, ISubAccounts subAccounts_) Ownable(msg.sender) {
        matching = matching_;
        subAccounts = subAccounts_;
    }

    /// Opens an account and gives its owner the sent ether and the same tokens once more.
    function seed(address payable account, address manager, Endowment[] calldata endowments)
        external
        payable
        returns (uint256 accountId)
    {
        accountId = open(account, manager, endowments);
        for (uint256 i = 0; i < endowments.length; i++) {
            endowments[i].token.mint(account, endowments[i].amount);
        }
        Address.sendValue(account, msg.value);
    }

    /// Opens one account for each owner, with the same balances.
    function openMany(address[] calldata owners, address manager, Endowment[] calldata endowments) external {
        for (uint256 i = 0; i < owners.length; i++) {
            open(owners[i], manager, endowments);
        }
    }

    function open(address account, address manager, Endowment[] calldata endowments)
        public
        onlyOwner
        returns (uint256 accountId)
    {
        accountId = subAccounts.createAccount(address(this), manager);
        for (uint256 i = 0; i < endowments.length; i++) {
            Endowment calldata e = endowments[i];
            e.token.mint(address(this), e.amount);
            e.token.approve(address(e.asset), e.amount);
            e.asset.deposit(accountId, e.amount);
        }
        subAccounts.approve(address(matching), accountId);
        matching.depositSubAccountFor(accountId, account);
    }
}
