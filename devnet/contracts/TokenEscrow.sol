// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {ISubAccounts, ITokenAsset} from "./interfaces.sol";
import {ManagedAsset} from "./ManagedAsset.sol";

/// An asset that is backed one to one by a token held here. Balances have 18 decimals, the token its own.
abstract contract TokenEscrow is ITokenAsset, ManagedAsset {
    using SafeCast for uint256;
    using SafeERC20 for IERC20Metadata;

    IERC20Metadata internal immutable token;
    /// Balance at 18 decimals of one unit of the token.
    uint256 internal immutable unit;

    event Deposit(
        uint256 indexed accountId,
        address indexed depositor,
        uint256 amountAssetMinted,
        uint256 wrappedAssetDeposited
    );
    event Withdraw(
        uint256 indexed accountId,
        address indexed recipient,
        uint256 amountAssetBurn,
        uint256 wrappedAssetWithdrawn
    );

    constructor(ISubAccounts subAccounts_, IERC20Metadata token_) ManagedAsset(subAccounts_) {
        token = token_;
        unit = 10 ** (18 - token_.decimals());
    }

    /// The token that backs the asset.
    function wrappedAsset() external view returns (address) {
        return address(token);
    }

    /// Takes so much of the token, in its own units, from the caller and credits the account; any account of a known
    /// manager, with or without its consent.
    function deposit(uint256 recipientAccount, uint256 assetAmount) external {
        _deposit(recipientAccount, assetAmount);
    }

    /// Pays so much of the token, in its own units, out of the account. The owner of the account's NFT only; the account's
    /// manager judges what is left.
    function withdraw(uint256 accountId, uint256 assetAmount, address recipient) external {
        if (subAccounts.ownerOf(accountId) != msg.sender) _refuseStranger();
        uint256 burned = _burnedFor(assetAmount);
        // The token moves first: the token itself refuses more than the escrow holds.
        token.safeTransfer(recipient, assetAmount);
        subAccounts.assetAdjustment(accountId, 0, -burned.toInt256());
        emit Withdraw(accountId, recipient, burned, assetAmount);
    }

    function _deposit(uint256 accountId, uint256 assetAmount) internal {
        token.safeTransferFrom(msg.sender, address(this), assetAmount);
        uint256 minted = assetAmount * unit;
        subAccounts.assetAdjustment(accountId, 0, minted.toInt256());
        emit Deposit(accountId, msg.sender, minted, assetAmount);
    }

    /// Balance that a withdrawal of so much of the token costs.
    function _burnedFor(uint256 assetAmount) internal virtual returns (uint256) {
        return assetAmount * unit;
    }

    function _refuseStranger() internal pure virtual;
}
