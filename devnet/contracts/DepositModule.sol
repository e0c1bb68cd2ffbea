// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IMatching, ISubAccounts, ITokenAsset, VerifiedAction} from "./interfaces.sol";
import {BaseModule, OneTimeModule} from "./BaseModule.sol";

/// Moves tokens from the owner's wallet into one of its accounts, or into a new one when the action names account 0.
contract DepositModule is OneTimeModule {
    using SafeERC20 for IERC20;

    struct DepositData {
        /// Token's own units; the largest uint256 stands for the whole wallet balance.
        uint256 amount;
        address asset;
        address managerForNewAccount;
    }

    error DM_InvalidDepositActionLength();

    constructor(IMatching matching_, ISubAccounts subAccounts_) BaseModule(matching_, subAccounts_) {}

    function executeAction(VerifiedAction[] calldata actions, bytes calldata)
        external
        onlyMatching
        returns (uint256[] memory newIds, address[] memory newOwners)
    {
        if (actions.length != 1) revert DM_InvalidDepositActionLength();
        VerifiedAction calldata action = actions[0];
        _useNonce(action.owner, action.nonce);
        DepositData memory data = abi.decode(action.data, (DepositData));

        IERC20 token = IERC20(ITokenAsset(data.asset).wrappedAsset());
        uint256 amount = data.amount == type(uint256).max ? token.balanceOf(action.owner) : data.amount;
        token.safeTransferFrom(action.owner, address(this), amount);
        token.forceApprove(data.asset, amount);

        uint256 accountId = action.subaccountId;
        if (accountId == 0) {
            accountId = subAccounts.createAccount(address(this), data.managerForNewAccount);
            newIds = new uint256[](1);
            newOwners = new address[](1);
            newIds[0] = accountId;
            newOwners[0] = action.owner;
        }
        ITokenAsset(data.asset).deposit(accountId, amount);
        _returnAccount(accountId);
    }
}
