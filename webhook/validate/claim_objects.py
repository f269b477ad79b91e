"""A `GpuClaim` itself: what its schema says, in words, and what no schema can say."""

from __future__ import annotations

from pydantic import ValidationError

from fourleaf.model.crds.claim import ClaimSpec
from fourleaf.model.quantity import in_bytes
from fourleaf.model.readers.objects.manifest import Body, Manifest


def check_claim_object(manifest: Manifest, before: Body | None) -> None:
    """Report what is wrong with the spec, unless it stands as it did before."""
    spec = manifest.body.get("spec")
    if before is not None and spec == before.get("spec"):
        return
    try:
        claim = ClaimSpec.model_validate(spec, strict=False)
    except ValidationError as wrong:
        for one in wrong.errors(include_url=False):
            path = ".".join(str(part) for part in ("spec", *one["loc"]))
            advice = "Look at the fields by `kubectl explain gclaim.spec`."
            missing = one["type"] == "missing"
            said = one["msg"].removeprefix("Value error, ").lower()
            manifest.error(path, None if missing else one["input"], said, advice)
        return
    if claim.selector is None:
        return
    products = claim.selector.products
    for product in sorted({one for one in products if products.count(one) > 1}):
        manifest.error("spec.selector.products", product, "is named twice", "Name it once.")
    least = claim.selector.min_memory
    if least is not None and not in_bytes(least):
        field, advice = "spec.selector.minMemory", "Give an amount above zero, or leave it out."
        manifest.error(field, least, "is nothing", advice)
