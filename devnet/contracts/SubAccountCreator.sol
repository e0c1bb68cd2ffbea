// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IMatching, ISubAccounts, ITokenAsset} from "./interfaces.sol";

/// Opens, funds and hands over to Matching an account of the caller, in the caller's own transaction.
contract SubAccountCreator {
    using SafeERC20 for IERC20;

    ISubAccounts public immutable subAccounts;
    IMatching public immutable matching;

    constructor(ISubAccounts subAccounts_, IMatching matching_) {
        subAccounts = subAccounts_;
        matching = matching_;
        subAccounts_.setApprovalForAll(address(matching_), true);
    }

    /// `initDeposit` is in the token's own units and was approved for this contract; 0 opens an empty account.
    function createAndDepositSubAccount(ITokenAsset baseAsset, uint256 initDeposit, address manager)
        external
        returns (uint256 accountId)
    {
        accountId = subAccounts.createAccount(address(this), manager);
        if (initDeposit > 0) {
            IERC20 token = IERC20(baseAsset.wrappedAsset());
            token.safeTransferFrom(msg.sender, address(this), initDeposit);
            token.forceApprove(address(baseAsset), initDeposit);
            baseAsset.deposit(accountId, initDeposit);
        }
        matching.depositSubAccountFor(accountId, msg.sender);
    }
}
