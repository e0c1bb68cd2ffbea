// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {ISubAccounts, ITokenAsset} from "./interfaces.sol";

/// An asset that is backed one to one by a token held here. Balances have 18 decimals, the token its own.
abstract contract TokenEscrow is ITokenAsset, Ownable {
    using SafeCast for uint256;
    using SafeERC20 for IERC20Metadata;

    ISubAccounts public immutable subAccounts;
    IERC20Metadata private immutable token;
    uint256 private immutable unit;
    mapping(address manager => bool) public whitelistedManager;

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
    event WhitelistManagerSet(address _manager, bool _whitelisted);

    error MW_OnlyAccounts();
    error MW_UnknownManager();

    modifier onlyAccounts() {
        if (msg.sender != address(subAccounts)) revert MW_OnlyAccounts();
        _;
    }

    constructor(ISubAccounts subAccounts_, IERC20Metadata token_) Ownable(msg.sender) {
        subAccounts = subAccounts_;
        token = token_;
        unit = 10 ** (18 - token_.decimals());
    }

    function wrappedAsset() external view returns (address) {
        return address(token);
    }

    function setWhitelistManager(address _manager, bool _whitelisted) external onlyOwner {
        whitelistedManager[_manager] = _whitelisted;
        emit WhitelistManagerSet(_manager, _whitelisted);
    }

    function deposit(uint256 recipientAccount, uint256 assetAmount) external {
        _deposit(recipientAccount, assetAmount);
    }

    function withdraw(uint256 accountId, uint256 assetAmount, address recipient) external {
        if (subAccounts.ownerOf(accountId) != msg.sender) _refuseStranger();
        // The token moves first: more than the escrow holds is refused by the token itself.
        token.safeTransfer(recipient, assetAmount);
        uint256 burned = assetAmount * unit;
        subAccounts.assetAdjustment(accountId, 0, -burned.toInt256());
        emit Withdraw(accountId, recipient, burned, assetAmount);
    }

    function _deposit(uint256 accountId, uint256 assetAmount) internal {
        token.safeTransferFrom(msg.sender, address(this), assetAmount);
        uint256 minted = assetAmount * unit;
        subAccounts.assetAdjustment(accountId, 0, minted.toInt256());
        emit Deposit(accountId, msg.sender, minted, assetAmount);
    }

    /// The account's manager, which must be known here.
    function _knownManager(uint256 accountId) internal view returns (address manager) {
        manager = subAccounts.manager(accountId);
        if (!whitelistedManager[manager]) revert MW_UnknownManager();
    }

    function _refuseStranger() internal pure virtual;
}
