"""Which tokens are trained, checked before anything is learned from them."""

from trainers.audit.batch import audit_batch
from trainers.audit.records import audit_record, audit_records
from trainers.audit.report import AuditFailed, Finding, Report

__all__ = ["AuditFailed", "Finding", "Report", "audit_batch", "audit_record", "audit_records"]
