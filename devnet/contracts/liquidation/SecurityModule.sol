// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {AssetTransfer, ICashAsset, ISecurityModule, ISubAccounts} from "../interfaces.sol";

/// Holds cash that pays bidders for taking over insolvent accounts, and receives the fees of liquidations.
contract SecurityModule is ISecurityModule, Ownable {
    using SafeCast for int256;
    using SafeCast for uint256;
    using SafeERC20 for IERC20;

    ISubAccounts public immutable subAccounts;
    ICashAsset public immutable cashAsset;
    uint256 public immutable accountId;
    mapping(address module => bool) public isWhitelisted;

    event ModuleWhitelisted(address module, bool isWhitelisted);
    event SecurityModulePaidOut(uint256 accountId, uint256 cashAmountNeeded, uint256 cashAmountPaid);

    error SM_NotWhitelisted();

    constructor(ISubAccounts subAccounts_, ICashAsset cashAsset_, address manager) Ownable(msg.sender) {
        subAccounts = subAccounts_;
        cashAsset = cashAsset_;
        accountId = subAccounts_.createAccount(address(this), manager);
    }

    function setWhitelistModule(address module, bool whitelisted) external onlyOwner {
        isWhitelisted[module] = whitelisted;
        emit ModuleWhitelisted(module, whitelisted);
    }

    /// Adds the caller's stable tokens, in their own units.
    function donate(uint256 stableAmount) external {
        IERC20 stable = IERC20(cashAsset.wrappedAsset());
        stable.safeTransferFrom(msg.sender, address(this), stableAmount);
        stable.forceApprove(address(cashAsset), stableAmount);
        cashAsset.deposit(accountId, stableAmount);
    }

    function withdraw(uint256 stableAmount, address recipient) external onlyOwner {
        cashAsset.withdraw(accountId, stableAmount, recipient);
    }

    function requestPayout(uint256 recipientId, uint256 cashAmountNeeded) external returns (uint256 paid) {
        if (!isWhitelisted[msg.sender]) revert SM_NotWhitelisted();
        uint256 balance = subAccounts.getBalance(accountId, address(cashAsset), 0).toUint256();
        paid = Math.min(balance, cashAmountNeeded);
        subAccounts.submitTransfer(
            AssetTransfer(accountId, recipientId, address(cashAsset), 0, paid.toInt256(), bytes32(0)), ""
        );
        emit SecurityModulePaidOut(recipientId, cashAmountNeeded, paid);
    }
}
