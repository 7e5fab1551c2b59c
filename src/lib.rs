//! caphost
